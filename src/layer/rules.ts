/** What people state of a database (`gate layer add`), or answer where no data can decide: told to questions, but never as proved. */
import type { DatabaseDescription, LayerRule } from '../domain';
import { canonical } from '../domain/canonical';
import { wordsOf } from '../database/relevance';
import { tablesNamed } from '../database/table-names';
import { sha256 } from '../sha256';
import { oneLine } from '../clip';
import type { HeldRule } from './state';

/** The most rules that a prompt shows. */
const MOST_RULES = 12;
const RULE_CHARS = 600;

/** `about`: the question that it answers, or else the statement. */
export function ruleIdOf(about: string): string {
  return `e${sha256(canonical(['rule', about.replace(/\s+/g, ' ').trim().toLowerCase()])).slice(0, 16)}`;
}

/**
 * The tables and columns that a text names, as entries name them. A column belongs to the tables that the text names beside it, or
 * else to all tables that have it.
 */
export function namedIn(
  text: string,
  { tables }: Pick<DatabaseDescription, 'tables'>,
): Pick<LayerRule, 'tables' | 'columns'> {
  const words = new Set((text.match(/[\p{L}_][\p{L}\p{N}_$]*/gu) ?? []).map((word) => word.toLowerCase()));
  const named = tablesNamed(text, tables);
  const columnsOf = (among: typeof tables, word: string): string[] =>
    among.flatMap(({ name, columns }) =>
      columns.filter((column) => column.name.toLowerCase() === word).map((column) => `${name}.${column.name}`),
    );
  const columns = [...words].flatMap((word) => {
    const own = columnsOf(named, word);
    return own.length > 0 ? own : columnsOf(tables, word);
  });
  const owners = tables.filter(({ name }) => columns.some((column) => column.startsWith(`${name}.`)));
  return { tables: [...new Set([...named, ...owners].map(({ name }) => name))], columns };
}

/** Active ones that share words with a question, or are about one of its likeliest tables; those that share most first. */
export function rulesFor(
  rules: readonly HeldRule[],
  { question, tables }: { readonly question: string; readonly tables: readonly string[] },
): readonly HeldRule[] {
  const asked = new Set(wordsOf(question));
  const likely = new Set(tables.map((table) => table.toLowerCase()));
  return rules
    .filter(({ status }) => status === 'active')
    .map((rule) => {
      const words = new Set(wordsOf(rule.statement).filter((word) => asked.has(word)));
      const shared = rule.entry.tables.filter((table) => likely.has(table.toLowerCase()));
      return { rule, score: words.size + shared.length };
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, MOST_RULES)
    .map(({ rule }) => rule);
}

/** As a person's remark: `ann said on 2026-01-01: Which clock? UTC`. */
export function ruleText({ entry: { author, saidAt }, statement }: HeldRule): string {
  return `${author} said on ${saidAt.slice(0, 10)}: ${oneLine(statement, RULE_CHARS)}`;
}
