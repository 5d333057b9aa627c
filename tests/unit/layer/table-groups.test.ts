/** Tables in groups, as a lesson takes them. */
import fc from '../../helpers/property';
import { tableGroups } from '../../../src/layer/table-groups';

type Links = readonly (readonly [string, string, number])[];
const nearOf = (links: Links): Map<string, Map<string, number>> => {
  const near = new Map<string, Map<string, number>>();
  for (const [one, other, weight] of links)
    for (const [from, to] of [
      [one, other],
      [other, one],
    ] as const)
      near.set(from, (near.get(from) ?? new Map<string, number>()).set(to, weight));
  return near;
};
const of = (names: readonly string[], links: Links, most = { chars: 1_000, tables: 3 }, size = 10): string[][] =>
  tableGroups(names, {
    ...{ near: nearOf(links), most, sizes: new Map(names.map((name) => [name, size])) },
    central: new Map(names.map((name) => [name, links.filter((link) => link.includes(name)).length])),
  });

test('what hangs together stays together, the most central first; what hangs on nothing comes last', () => {
  const links: Links = [['b', 'a', 1], ['b', 'c', 1], ['x', 'y', 1], ['b', 'x', 0.1]]; // prettier-ignore
  expect(of(['z', 'y', 'x', 'c', 'b', 'a'], links)).toEqual([['b', 'a', 'c'], ['x', 'y', 'z']]); // prettier-ignore
});

test('a table that is larger than a group has one of its own', () => {
  expect(of(['a', 'b'], [['a', 'b', 1]], { chars: 5, tables: 3 })).toEqual([['a'], ['b']]);
});

test('each table is in one group, and no group is larger than a prompt shows', () => {
  const name = fc.integer({ min: 0, max: 30 }).map((at) => `t${at}`);
  fc.assert(
    fc.property(
      fc.uniqueArray(name, { minLength: 1 }),
      fc.array(fc.tuple(name, name, fc.double({ min: 0, max: 1, noNaN: true }))),
      (names, links) => {
        const groups = of(names, links, { chars: 45, tables: 7 });
        expect(groups.flat().sort()).toEqual([...names].sort());
        expect(groups.every((group) => group.length >= 1 && group.length <= 4)).toBe(true);
      },
    ),
  );
});
