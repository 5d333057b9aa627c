// A bundle that clients of MCP install with a click (`npm run mcpb`): a manifest, and a launcher that has npx run this very version
// of the package, because its native parts differ by platform. Needs a built `dist`. `mcpBundle(folder)` gives the file's path.
const { createWriteStream, mkdirSync, readFileSync } = require('node:fs');
const { join } = require('node:path');
const { pipeline } = require('node:stream/promises');
const { ZipFile } = require('yazl');

const root = join(__dirname, '..');

const LAUNCHER = (version) => `const { spawn } = require('node:child_process');
const isWindows = process.platform === 'win32';
// An optional field that was left empty is no setting.
const env = Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== '' && !/^\\$\\{/.test(value)));
const child = spawn('npx', ['--yes', 'gate-sql@${version}', 'mcp'], { stdio: 'inherit', shell: isWindows, env });
child.on('error', (error) => { console.error(\`gate: \${error.message}; Node.js with npx has to be on the PATH\`); process.exit(1); });
child.on('exit', (code) => process.exit(code ?? 1));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
`;

function manifest() {
  const { name, version, description, license, keywords, engines } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  );
  const { TOOLS } = require('../dist/src/server/mcp/tools.js');
  const text = (title, about, more) => ({ type: 'string', title, description: about, ...more });
  return {
    manifest_version: '0.3',
    ...{ name, display_name: 'GATE', version, description, license, keywords },
    author: { name: 'The GATE maintainers' },
    server: {
      type: 'node',
      entry_point: 'server/index.js',
      mcp_config: {
        command: 'node',
        args: ['${__dirname}/server/index.js'],
        env: {
          GATE_CONFIG: '${user_config.config}',
          GATE_MODEL: '${user_config.model}',
          OPENAI_API_KEY: '${user_config.api_key}',
          OPENAI_BASE_URL: '${user_config.base_url}',
        },
      },
    },
    tools: Object.entries(TOOLS)
      .filter(([tool]) => tool !== 'sql')
      .map(([tool, { description: about }]) => ({ name: tool, description: about })),
    user_config: {
      config: {
        type: 'file',
        title: 'Configuration',
        description: 'gate.config.json, which names the databases',
        required: true,
      },
      model: text('Model', 'Its name at the endpoint', { required: true }),
      api_key: text('API key', 'Of the endpoint', { sensitive: true, required: false, default: '' }),
      base_url: text('Endpoint', 'Any that speaks chat completions', { default: 'https://api.openai.com/v1' }),
    },
    compatibility: { platforms: ['darwin', 'linux', 'win32'], runtimes: { node: engines.node } },
  };
}

async function mcpBundle(folder) {
  const made = manifest();
  const path = join(folder, `${made.name}-${made.version}.mcpb`);
  mkdirSync(folder, { recursive: true });
  const zip = new ZipFile();
  // The same sources give the same bytes.
  const add = (content, name) =>
    zip.addBuffer(Buffer.from(content), name, { mtime: new Date(1980, 0, 1), mode: 0o100644 });
  add(`${JSON.stringify(made, null, 2)}\n`, 'manifest.json');
  add(LAUNCHER(made.version), 'server/index.js');
  add(readFileSync(join(root, 'LICENSE')), 'LICENSE');
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(path));
  return path;
}

module.exports = { mcpBundle };

if (require.main === module) mcpBundle(join(root, 'dist')).then(console.log);
