/**
 * The messages of Temporal's protocol that the program needs, of all that its SDK brings: 600 of 1,310. Their types are built
 * whenever a process connects, which takes half the time then.
 *
 * Calls are kept whose names stand in our code or in the parts of the SDK that it uses, with all messages that lead from them;
 * the SDK's own protocol with its native half is kept whole. The build fails where a kept message lacks another one.
 */
const { readdirSync, readFileSync } = require('node:fs');
const { dirname, join } = require('node:path');
const protobuf = require('protobufjs/light');

const root = join(__dirname, '..');
/** Clients of the SDK that the program does not use. */
const UNUSED = /client\/lib\/(activity-client|async-completion-client|nexus-client|task-queue-client)\.js$/;
const WHOLE = /^(coresdk|google|temporal\.api\.errordetails)\./;

const read = (folder, ending) =>
  readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith(ending))
    .map((name) => [join(folder, name), readFileSync(join(folder, name), 'utf8')]);

/** `all`: as JSON of protobufjs; returns it without what is not needed. */
function neededMessages(all) {
  const own = read(join(root, 'src'), '.ts');
  const sdk = ['client', 'worker', 'common'].flatMap((name) =>
    read(dirname(require.resolve(`@temporalio/${name}`)), '.js'),
  );
  const called = new Set([
    ...own.flatMap(([, text]) => text.match(/\w+/g)),
    ...sdk.filter(([file]) => !UNUSED.test(file)).flatMap(([, text]) => text.match(/(?<=\.)\w+(?=\()/g) ?? []),
  ]);
  const types = new Map();
  const collect = ({ nested = {} }, prefix) => {
    for (const [name, type] of Object.entries(nested)) {
      for (const call of Object.keys(type.methods ?? {}))
        if (!called.has(call[0].toLowerCase() + call.slice(1))) delete type.methods[call];
      types.set(prefix + name, type);
      collect(type, `${prefix}${name}.`);
    }
  };
  collect({ nested: all }, '');
  const kept = new Set();
  const keep = (path) => {
    if (path === '' || kept.has(path)) return;
    kept.add(path);
    keep(parentOf(path));
    const { fields = {}, methods = {}, nested = {} } = types.get(path);
    const named = Object.values(methods).flatMap(({ requestType, responseType }) => [requestType, responseType]);
    for (const name of [...named, ...Object.values(fields).map(({ type }) => type)]) keep(resolved(name, path, types));
    if (Object.keys(fields).length > 0) for (const name of Object.keys(nested)) keep(`${path}.${name}`);
  };
  const isType = ({ fields, values, methods }) => (fields ?? values ?? methods) !== undefined;
  for (const [path, type] of types)
    if (Object.keys(type.methods ?? {}).length > 0 || (WHOLE.test(path) && isType(type))) keep(path);
  for (const [, text] of [...own, ...sdk])
    for (const [mentioned] of text.matchAll(/\btemporal\.api(\.\w+)+/g)) {
      let path = mentioned;
      while (path !== '' && !types.has(path)) path = parentOf(path);
      if (path !== '' && isType(types.get(path))) keep(path);
    }
  const prune = ({ nested = {} }, prefix) => {
    for (const [name, type] of Object.entries(nested))
      if (kept.has(prefix + name)) prune(type, `${prefix}${name}.`);
      else delete nested[name];
  };
  prune({ nested: all }, '');
  new protobuf.Root().addJSON(structuredClone(all)).resolveAll();
  return all;
}

const parentOf = (path) => path.slice(0, Math.max(0, path.lastIndexOf('.')));

/** A name means the nearest type of that name; a number or a text none. */
function resolved(name, path, types) {
  for (let scope = path; ; scope = parentOf(scope)) {
    const found = scope === '' ? name : `${scope}.${name}`;
    if (types.has(found)) return found;
    if (scope === '') return '';
  }
}

module.exports = { neededMessages };
