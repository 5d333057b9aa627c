/**
 * Writes `sprint.sql`: the sample database of the demo, after the paper's qualitative example. Eighteen sprint events with
 * eight finishers each. The trap is in the JSON column `performance`: the winner's `final_time` is an absolute time, every
 * other finisher's is the gap to the winner, with minutes when it is a minute or more. Four runner-up gaps exceed 5 s, one
 * of them written with minutes. The SQL runs on SQLite and PostgreSQL. Run: npx tsx examples/sprint/make-data.ts
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Runner-up gaps in milliseconds, one per event: four above 5,000, and some close to it. */
const RUNNER_UP_GAPS_MS = [
  1430, 2325, 21048, 812, 3904, 64210, 4987, 298, 2751, 7633, 1105, 4412, 560, 5214, 3097, 1876, 4999, 2040,
];
const TRACKS = ['Interlagos', 'Imola', 'Baku', 'Spielberg', 'Austin', 'Lusail', 'Shanghai', 'Miami', 'Zandvoort'];
const DRIVERS = ['Arden', 'Bruni', 'Castell', 'Dufour', 'Eriksen', 'Falk', 'Garcia', 'Hale'];
const TEAMS = ['Northwind', 'Aquila', 'Vega', 'Meridian'];

interface Row {
  readonly event: number;
  readonly driver: number;
  readonly performance: string;
}

function minutes(ms: number): string {
  const rest = ms % 60_000;
  return `${Math.floor(ms / 60_000)}:${seconds(rest).padStart(6, '0')}`;
}

function seconds(ms: number): string {
  return `${Math.floor(ms / 1000)}.${String(ms % 1000).padStart(3, '0')}`;
}

function finisher(event: number, position: number, winnerMs: number, gapMs: number): Row {
  const driver = ((event * 3 + position * 5) % DRIVERS.length) + 1;
  const gap = gapMs >= 60_000 ? minutes(gapMs) : seconds(gapMs);
  const performance = {
    grid: ((position + event) % 8) + 1,
    timing: { final_time: position === 1 ? minutes(winnerMs) : `+${gap}`, duration_ms: winnerMs + gapMs },
    final_position: position,
    points: Math.max(0, 9 - position),
  };
  return { event, driver, performance: JSON.stringify(performance) };
}

function rows(): Row[] {
  return RUNNER_UP_GAPS_MS.flatMap((runnerUpMs, index) => {
    const event = index + 1;
    const winnerMs = 1_538_426 + index * 13_711;
    return Array.from({ length: 8 }, (_, at) => {
      const position = at + 1;
      const gapMs = position === 1 ? 0 : runnerUpMs + (position - 2) * (3_217 + index * 811);
      return finisher(event, position, winnerMs, gapMs);
    });
  });
}

function script(): string {
  const values = (lines: string[]) => `${lines.join(',\n')};`;
  return [
    '-- Made by make-data.ts. Runs on SQLite and PostgreSQL.',
    'CREATE TABLE teams (team_id INTEGER PRIMARY KEY, name TEXT NOT NULL);',
    'CREATE TABLE drivers (driver_id INTEGER PRIMARY KEY, name TEXT NOT NULL, team_id INTEGER NOT NULL REFERENCES teams (team_id));',
    'CREATE TABLE events (event_id INTEGER PRIMARY KEY, season INTEGER NOT NULL, track TEXT NOT NULL, format TEXT NOT NULL);',
    'CREATE TABLE sprint_results (result_id INTEGER PRIMARY KEY, event_id INTEGER NOT NULL REFERENCES events (event_id), driver_id INTEGER NOT NULL REFERENCES drivers (driver_id), performance JSON NOT NULL);',
    `INSERT INTO teams VALUES\n${values(TEAMS.map((name, i) => `(${i + 1}, '${name}')`))}`,
    `INSERT INTO drivers VALUES\n${values(DRIVERS.map((name, i) => `(${i + 1}, '${name}', ${Math.floor(i / 2) + 1})`))}`,
    `INSERT INTO events VALUES\n${values(RUNNER_UP_GAPS_MS.map((_, i) => `(${i + 1}, ${2021 + Math.floor(i / 6)}, '${TRACKS[i % 9] ?? ''}', 'sprint')`))}`,
    `INSERT INTO sprint_results VALUES\n${values(rows().map((row, i) => `(${i + 1}, ${row.event}, ${row.driver}, '${row.performance}')`))}`,
    '',
  ].join('\n');
}

writeFileSync(join(__dirname, 'sprint.sql'), script());
