/** The tables of a club, as the claims read them. */
import type { Words } from './subject';

export const clubTables = ({ types: { integer, text, date, double } }: Words): string[] => [
  `CREATE TABLE team (id ${integer} PRIMARY KEY, code ${text} NOT NULL UNIQUE, city ${text})`,
  `CREATE TABLE player (id ${integer} PRIMARY KEY, team_id ${integer}, name ${text}, joined ${date}, weight ${double},
    UNIQUE (team_id, name), FOREIGN KEY (team_id) REFERENCES team(id))`,
  `INSERT INTO team VALUES (1, 'ABC', 'Rome'), (2, 'DEF', NULL), (3, 'GHI', 'Bern')`,
  `INSERT INTO player VALUES (1, 1, 'Ann', '2020-01-31', 61.5), (2, 1, 'Bob', '2021-02-28', 80.25), (3, 2, 'Cai', NULL, NULL)`,
  `CREATE VIEW roman AS SELECT player.name FROM player JOIN team ON team.id = player.team_id WHERE city = 'Rome'`,
];
