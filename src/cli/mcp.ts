/** `gate mcp`: agents ask through the Model Context Protocol. */
import { orNone, positiveNumber, commandOf, type CommandFactory } from './options';

interface McpFlags {
  readonly budget: number | 'none';
  readonly sql?: boolean;
}

export const mcpCommand: CommandFactory = (io) =>
  commandOf(
    'mcp',
    'serve agents on stdin and stdout by the Model Context Protocol (docs/mcp.md)',
    'gate mcp',
    'claude mcp add gate -- npx -y gate-sql mcp',
  )
    .option(
      '--budget <usd>',
      'the most that all questions of this process may cost, in US dollars, or none',
      orNone(positiveNumber),
      5,
    )
    .option('--sql', 'also offer a tool that reads rows with SQL of the caller')
    .action(async ({ budget, sql = false }: McpFlags) => {
      const [{ serveMcpStdio }, { untilInterrupted }] = await Promise.all([
        import('../server/mcp/stdio'),
        import('./interrupts'),
      ]);
      const budgetUsd = budget === 'none' ? null : budget;
      await untilInterrupted(io, (stop) => serveMcpStdio({ budgetUsd, sql }, io, stop));
    });
