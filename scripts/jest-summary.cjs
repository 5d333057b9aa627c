// Jest reporter: one plain closing line for machines, after the tests that passed at their second try alone.
const { relative } = require('node:path');

module.exports = class Summary {
  onRunComplete(_contexts, results) {
    const broken = results.testResults.filter((file) => file.testExecError && file.numFailingTests === 0).length;
    const skipped = results.numPendingTests + results.numTodoTests;
    for (const { testFilePath, testResults } of results.testResults)
      for (const { status, retryReasons, fullName } of testResults)
        if (status === 'passed' && retryReasons?.length > 0)
          process.stdout.write(`\nUnreliable: ${relative(process.cwd(), testFilePath)}: ${fullName}`);
    const tail = skipped > 0 ? `, ${skipped} skipped` : '';
    process.stdout.write(`\n${results.numPassedTests} passed, ${results.numFailedTests + broken} failed${tail}\n`);
  }
};
