/** What a question used, in words: calls, tokens, money, statements, time. For people, and for workflows: without a locale. */
import { counted } from '../counted';
import type { Usage } from '../domain';
import { size } from '../size';

/** `2 model calls, 7,095 tokens, $0.02, 16 SQL statements in 104 ms`. */
export function usageText(usage: Usage): string {
  const { llmCalls, possiblyBilledCalls, costUsd, sqlMs, lookups } = usage;
  return [
    `${counted(llmCalls, 'model call')}${possiblyBilledCalls > 0 ? ` (and ${possiblyBilledCalls} possibly billed)` : ''}`,
    tokensText(usage),
    dollars(costUsd),
    `${statementsText(usage)} in ${duration(sqlMs)}`,
    ...(lookups === undefined ? [] : [counted(lookups, 'lookup')]),
  ].join(', ');
}

/** Prompt and completion together, and how many of them a provider read from its cache. */
export function tokensText(usage: Pick<Usage, 'promptTokens' | 'completionTokens' | 'cachedTokens'>): string {
  const all = counted(Math.round(usage.promptTokens + usage.completionTokens), 'token');
  return usage.cachedTokens === undefined
    ? all
    : `${all} (${counted(Math.round(usage.cachedTokens), 'cached', 'cached')})`;
}

/** `8 SQL statements`, and what the database bills for them where it bills by bytes. */
export function statementsText(usage: Pick<Usage, 'sqlExecutions' | Bill>): string {
  const bill = billText(usage);
  return `${counted(usage.sqlExecutions, 'SQL statement')}${bill === null ? '' : ` (${bill})`}`;
}

type Bill = 'sqlBytes' | 'sqlUsd';

/** Null: the database bills nothing by bytes. */
export function billText({ sqlBytes, sqlUsd = 0 }: Pick<Usage, Bill>): string | null {
  return sqlBytes === undefined ? null : `${size(sqlBytes)} billed, about ${dollars(sqlUsd)}`;
}

export function dollars(amount: number): string {
  if (amount === 0) return '$0';
  return amount < 0.01 ? `$${amount.toPrecision(2)}` : `$${amount.toFixed(amount < 1 ? 3 : 2)}`;
}

export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1_000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  const minutes = Math.floor(whole / 60);
  const rest = whole - minutes * 60;
  return minutes < 60 ? `${minutes} min ${rest} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
