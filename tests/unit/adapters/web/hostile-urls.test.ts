/** URLs that try to reach what is not the public web: each is refused before anything is sent, whatever it is called. */
import { createWeb } from '../../../../src/adapters/web';
import { WebError } from '../../../../src/domain/ports';

/** Addresses, several on a line; what holds blanks or needs an escape is given beside them. */
const urls = (text: string, ...more: readonly string[]): readonly string[] => [...text.trim().split(/\s+/), ...more];

const HOSTILE: Readonly<Record<string, readonly string[]>> = {
  'this machine': urls(`
    http://ip6-localhost/ http://[0000:0000:0000:0000:0000:0000:0000:0001]/ http://127.255.255.254/ http://0/
    http://a.localdomain/ http://127.0.0.1/ http://127.0.0.1:80/admin http://127.8.9.10/ http://0.0.0.0/
    http://0.1.2.3/ http://[::1]/ http://[::]/ http://[0:0:0:0:0:0:0:1]/ http://localhost/ http://LOCALHOST/
    http://localhost./ http://api.localhost/ http://localhost.localdomain/
  `),
  'private networks': urls(`
    http://[fdff:ffff::1]/ http://host.docker.internal/ http://kubernetes.default.svc.cluster.local/
    http://router.home/ http://10.0.0.1/ http://10.255.255.255/ http://172.16.0.1/ http://172.31.255.254/
    http://192.168.1.1/ http://100.64.0.1/ http://100.127.255.254/ http://[fc00::1]/ http://[fd12:3456:789a::1]/
    http://[fec0::1]/ http://intranet/ http://router.lan/ http://printer.local/ http://wiki.corp/ http://db.internal/
    http://nas.home.arpa/ http://1.0.0.127.in-addr.arpa/
  `),
  'link-local, multicast and reserved addresses': urls(`
    http://198.19.255.255/ http://192.0.0.170/ http://192.31.196.1/ http://192.52.193.1/ http://192.175.48.1/
    http://[2001:2::1]/ http://[2001:10::1]/ http://[2001:20::1]/ http://[2001:4:112::1]/ http://[2620:4f:8000::1]/
    http://[5f00::1]/ http://169.254.1.1/ http://[fe80::1]/ http://224.0.0.1/ http://239.255.255.250/
    http://255.255.255.255/ http://240.0.0.1/ http://192.0.0.8/ http://192.0.2.1/ http://198.18.0.1/
    http://198.51.100.7/ http://203.0.113.9/ http://192.88.99.1/ http://[ff02::1]/ http://[2001:db8::1]/
    http://[3fff::1]/ http://[100::1]/ http://[4000::1]/
  `),
  'metadata of clouds': urls(`
    http://169.254.0.23/latest/ http://[fe80::a9fe:a9fe]/ http://[fd20:ce::254]/ http://instance-data/latest/
    http://instance-data.ec2.internal/latest/ http://169.254.169.254/latest/meta-data/
    http://[fd00:ec2::254]/latest/meta-data/ http://metadata.google.internal/computeMetadata/v1/
    http://metadata/computeMetadata/v1/ http://100.100.100.200/latest/meta-data/ http://168.63.129.16/machine
    http://192.0.0.192/opc/v2/ http://169.254.170.2/v2/credentials
  `),
  'other spellings of an address': urls(`
    http://0x0/ http://00000000000/ http://256/ http://0xA9FEA9FE/ http://0251.0376.0251.0376/ http://2852039166/
    http://169.16689662/ http://8.8.8.08/ http://10%2e0%2e0%2e1/ http://1.2.3.256/ http://2130706433/
    http://017700000001/ http://0x7f000001/ http://0x7f.0.0.1/ http://0177.0.0.1/ http://127.1/ http://127.0.1/
    http://127.0.0.1./ http://134744072/ http://0x08080808/ http://8.8.2056/ http://010.010.010.010/
    http://%31%32%37.0.0.1/ http://１２７.0.0.1/ http://①②⑦.⓪.⓪.①/ http://127。0。0。1/ http://ⓛocalhost/ http://ｌｏｃａｌｈｏｓｔ/
    http://example.127/ http://999.1.2.3.4.5/
  `, 'http://10.0.0.1\uff0f/', 'http://10\uff0e0\uff0e0\uff0e1/', 'http://loc\u200dalhost/', 'http://loc\u00adalhost/'),
  'IPv4 inside IPv6': urls(`
    http://[::ffff:0:7f00:1]/ http://[0:0:0:0:0:ffff:a9fe:a9fe]/ http://[::7f00:1]/ http://[64:ff9b::8.8.8.8]/
    http://[::ffff:127.0.0.1]/ http://[::ffff:7f00:1]/ http://[::ffff:8.8.8.8]/ http://[::127.0.0.1]/
    http://[64:ff9b::7f00:1]/ http://[64:ff9b:1::a00:1]/ http://[2002:7f00:1::]/ http://[2002:a9fe:a9fe::]/
    http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/ http://[2a00:1450:4001:81b:0:5efe:10.0.0.1]/
  `),
  'other schemes': urls(`
    http+unix://example.org/ unix:/run/docker.sock ldap://example.org/ jar:http://example.org!/ about:blank
    file:///etc/passwd ftp://ftp.example.org/ gopher://example.org:70/_GET data:text/html,<b>x</b> javascript:alert(1)
    ws://example.org/ blob:https://example.org/1 view-source:http://example.org/ dict://example.org:11211/stat
  `),
  'credentials, ports and broken syntax': urls(`
    http://@10.0.0.1/ http://:@example.org/ http://example.org:0/ http://example.org:80:90/ http://example.org:0x50/
    http://example.org:-80/ http://example.org%00.evil.org/ http://localhost%00.example.org/ http:////10.0.0.1/
    http://xn--/ http://[]/ http://[v1.a]/ http://2606:4700::1111/ http://user:secret@example.org/
    http://user@example.org/ http://example.org@127.0.0.1/ http://example.org:80@10.0.0.1/ http://example.org:22/
    http://example.org:6379/ http://example.org:8080/ https://example.org:99999/ http:127.0.0.1 http:/127.0.0.1/
    http:///127.0.0.1/ //example.org/ example.org http:// http://example.org./ http://example..org/
    http://-example.org/ http://[fe80::1%25eth0]/ http://[::1
  `, 'http://example.org\uff0f@10.0.0.1/', 'http:/\\/10.0.0.1/', 'http://example.org/\u202e', 'http://example.org\\@127.0.0.1/', 'http:\\\\127.0.0.1/', '', 'http://exa mple.org/', 'http://example.org/\r\nHost: 127.0.0.1', 'http://example.org\t.evil.org/', 'http://exam\u200bple.org/', `http://example.org/${'a'.repeat(3_000)}`, `http://${'a'.repeat(64)}.org/`),
}; // prettier-ignore

const asked: string[] = [];
const provider = { provider: 'searxng', baseUrl: null, apiKey: null } as const;
const web = createWeb(provider, {
  resolve: (host) => {
    asked.push(host);
    return Promise.resolve(['8.8.8.8']);
  },
});
const cases = Object.entries(HOSTILE).flatMap(([group, urls]) => urls.map((url) => [group, url] as const));

test.each(cases)('%s: %p is refused before its name is looked up', async (_group, url) => {
  const error = await web.fetch(url, { signal: new AbortController().signal }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(WebError);
  expect((error as WebError).code).toBe('refused');
  expect((error as WebError).message).not.toContain('\n');
  expect(asked).toEqual([]);
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
  ['the address of this machine on the internet', ['198.41.0.4']],
  ['a neighbour in the public IPv6 network of this machine', ['2606:2800:220:1::1', '2606:4700:1:2::99']],
];

test.each(POISONED)('a name that resolves to %s is refused', async (_claim, addresses) => {
  const fooled = createWeb(provider, {
    resolve: () => Promise.resolve(addresses),
    networks: () => ['198.41.0.4/32', '2606:4700:1:2::5/64', 'fe80::1/64'],
  });
  await expect(fooled.fetch('http://example.org/', { signal: new AbortController().signal })).rejects.toMatchObject({
    code: 'refused',
    message: expect.stringMatching(/which is (no public address|in a network of this machine)$/) as string,
  });
});

test.each(['http://198.41.0.4/', 'http://[2606:4700:1:2::99]/'])('%s, of this machine, is refused', async (url) => {
  const near = createWeb(provider, { networks: () => ['198.41.0.4/32', '2606:4700:1:2::5/64'] });
  await expect(near.fetch(url, { signal: new AbortController().signal })).rejects.toMatchObject({ code: 'refused' });
});
