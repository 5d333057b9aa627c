// Jest reporter: one plain closing line for machines.
module.exports = class Summary {
  onRunComplete(_contexts, results) {
    const broken = results.testResults.filter((file) => file.testExecError && file.numFailingTests === 0).length;
    const skipped = results.numPendingTests + results.numTodoTests;
    const tail = skipped > 0 ? `, ${skipped} skipped` : '';
    process.stdout.write(`\n${results.numPassedTests} passed, ${results.numFailedTests + broken} failed${tail}\n`);
  }
};
