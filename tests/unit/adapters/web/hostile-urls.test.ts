/** URLs that try to reach what is not the public web: each is refused before anything is sent, whatever it is called. */
import { createWeb } from '../../../../src/adapters/web';
import { WebError } from '../../../../src/ports';

const HOSTILE: Readonly<Record<string, readonly string[]>> = {
  'this machine': [
    'http://127.0.0.1/',
    'http://127.0.0.1:80/admin',
    'http://127.8.9.10/',
    'http://0.0.0.0/',
    'http://0.1.2.3/',
    'http://[::1]/',
    'http://[::]/',
    'http://[0:0:0:0:0:0:0:1]/',
    'http://localhost/',
    'http://LOCALHOST/',
    'http://localhost./',
    'http://api.localhost/',
    'http://localhost.localdomain/',
  ],
  'private networks': [
    'http://10.0.0.1/',
    'http://10.255.255.255/',
    'http://172.16.0.1/',
    'http://172.31.255.254/',
    'http://192.168.1.1/',
    'http://100.64.0.1/',
    'http://100.127.255.254/',
    'http://[fc00::1]/',
    'http://[fd12:3456:789a::1]/',
    'http://[fec0::1]/',
    'http://intranet/',
    'http://router.lan/',
    'http://printer.local/',
    'http://wiki.corp/',
    'http://db.internal/',
    'http://nas.home.arpa/',
    'http://1.0.0.127.in-addr.arpa/',
  ],
  'link-local, multicast and reserved addresses': [
    'http://169.254.1.1/',
    'http://[fe80::1]/',
    'http://224.0.0.1/',
    'http://239.255.255.250/',
    'http://255.255.255.255/',
    'http://240.0.0.1/',
    'http://192.0.0.8/',
    'http://192.0.2.1/',
    'http://198.18.0.1/',
    'http://198.51.100.7/',
    'http://203.0.113.9/',
    'http://192.88.99.1/',
    'http://[ff02::1]/',
    'http://[2001:db8::1]/',
    'http://[3fff::1]/',
    'http://[100::1]/',
    'http://[4000::1]/',
  ],
  'metadata of clouds': [
    'http://169.254.169.254/latest/meta-data/',
    'http://[fd00:ec2::254]/latest/meta-data/',
    'http://metadata.google.internal/computeMetadata/v1/',
    'http://metadata/computeMetadata/v1/',
    'http://100.100.100.200/latest/meta-data/',
    'http://168.63.129.16/machine',
    'http://192.0.0.192/opc/v2/',
    'http://169.254.170.2/v2/credentials',
  ],
  'other spellings of an address': [
    'http://2130706433/',
    'http://017700000001/',
    'http://0x7f000001/',
    'http://0x7f.0.0.1/',
    'http://0177.0.0.1/',
    'http://127.1/',
    'http://127.0.1/',
    'http://127.0.0.1./',
    'http://134744072/',
    'http://0x08080808/',
    'http://8.8.2056/',
    'http://010.010.010.010/',
    'http://%31%32%37.0.0.1/',
    'http://１２７.0.0.1/',
    'http://①②⑦.⓪.⓪.①/',
    'http://127。0。0。1/',
    'http://ⓛocalhost/',
    'http://ｌｏｃａｌｈｏｓｔ/',
    'http://loc\u00adalhost/',
    'http://example.127/',
    'http://999.1.2.3.4.5/',
  ],
  'IPv4 inside IPv6': [
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
    'http://[::ffff:8.8.8.8]/',
    'http://[::127.0.0.1]/',
    'http://[64:ff9b::7f00:1]/',
    'http://[64:ff9b:1::a00:1]/',
    'http://[2002:7f00:1::]/',
    'http://[2002:a9fe:a9fe::]/',
    'http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/',
    'http://[2a00:1450:4001:81b:0:5efe:10.0.0.1]/',
  ],
  'other schemes': [
    'file:///etc/passwd',
    'ftp://ftp.example.org/',
    'gopher://example.org:70/_GET',
    'data:text/html,<b>x</b>',
    'javascript:alert(1)',
    'ws://example.org/',
    'blob:https://example.org/1',
    'view-source:http://example.org/',
    'dict://example.org:11211/stat',
  ],
  'credentials, ports and broken syntax': [
    'http://user:secret@example.org/',
    'http://user@example.org/',
    'http://example.org@127.0.0.1/',
    'http://example.org:80@10.0.0.1/',
    'http://example.org:22/',
    'http://example.org:6379/',
    'http://example.org:8080/',
    'https://example.org:99999/',
    'http://example.org\\@127.0.0.1/',
    'http:\\\\127.0.0.1/',
    'http:127.0.0.1',
    'http:/127.0.0.1/',
    'http:///127.0.0.1/',
    '//example.org/',
    'example.org',
    '',
    'http://',
    'http://exa mple.org/',
    'http://example.org/\r\nHost: 127.0.0.1',
    'http://example.org\t.evil.org/',
    'http://exam\u200bple.org/',
    'http://example.org./',
    'http://example..org/',
    'http://-example.org/',
    `http://example.org/${'a'.repeat(3_000)}`,
    `http://${'a'.repeat(64)}.org/`,
    'http://[fe80::1%25eth0]/',
    'http://[::1',
  ],
};

const asked: string[] = [];
const web = createWeb(
  { provider: 'searxng', baseUrl: null, apiKey: null },
  {
    resolve: (host) => {
      asked.push(host);
      return Promise.resolve(['8.8.8.8']);
    },
  },
);
const cases = Object.entries(HOSTILE).flatMap(([group, urls]) => urls.map((url) => [group, url] as const));

test.each(cases)('%s: %p is refused before its name is looked up', async (_group, url) => {
  const error = await web.fetch(url, { signal: new AbortController().signal }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(WebError);
  expect((error as WebError).code).toBe('refused');
  expect((error as WebError).message).not.toContain('\n');
  expect(asked).toEqual([]);
});

test('the corpus holds at least 60 URLs, all different', () => {
  expect(cases.length).toBeGreaterThanOrEqual(60);
  expect(new Set(cases.map(([, url]) => url)).size).toBe(cases.length);
});

/** What a resolver might say of an innocent name. */
const POISONED: readonly (readonly [string, readonly string[]])[] = [
  ['a loopback address', ['127.0.0.1']],
  ['one private address among public ones', ['93.184.216.34', '10.0.0.7']],
  ['a private address behind a public IPv6 one', ['2606:2800:220:1::1', '192.168.0.1']],
  ['the metadata address', ['169.254.169.254']],
  ['a mapped address', ['::ffff:10.0.0.1']],
  ['a NAT64 address', ['64:ff9b::a00:1']],
  ['a link-local address with a zone', ['fe80::1%eth0']],
  ['what is no address at all', ['example.org']],
];

test.each(POISONED)('a name that resolves to %s is refused', async (_claim, addresses) => {
  const fooled = createWeb(
    { provider: 'searxng', baseUrl: null, apiKey: null },
    { resolve: () => Promise.resolve(addresses) },
  );
  await expect(fooled.fetch('http://example.org/', { signal: new AbortController().signal })).rejects.toMatchObject({
    code: 'refused',
    message: expect.stringContaining('no public address') as string,
  });
});
