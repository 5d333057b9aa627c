/** What a page says stays what it says when it becomes text: powers, struck words, numbers of lists, letters of any charset. */
import { readable, readableType } from '../../../../src/adapters/web/readable';

const URL_OF = 'https://rules.example.org/guide/page';
const read = (body: string | Buffer, type = 'text/html; charset=utf-8', maxChars = 20_000) =>
  readable(Buffer.isBuffer(body) ? body : Buffer.from(body), type, URL_OF, maxChars);
const text = (...args: Parameters<typeof read>) => read(...args).text;
const LONG = 'The warehouse opens at eight and closes at five, except on holidays. '.repeat(6).trim();

describe('HTML', () => {
  test.each([
    ['powers and indices are marked', '10<sup>6</sup> m<sup>2</sup> of H<sub>2</sub>O', '10^6 m^2 of H_2O'],
    ['struck text is gone', 'within <del>14</del> <ins>30</ins> days, <s>net</s> gross', 'within 30 days, gross'],
    ['what is hidden is gone', '<p>seen<p hidden>unseen<p aria-hidden="true">again', 'seen'],
    ['terms and their definitions stand apart', '<dl><dt>Late<dd>14 days</dl>', 'Late\n14 days'],
    ['steps keep their numbers', '<ol><li>a<ol type=a><li>x<li>y</ol><li>b</ol>', '1. a\n    a. x\n    b. y\n 2. b'],
    ['a list counts from where it says', '<ol start=5><li>five<li>six</ol>', '5. five\n 6. six'],
    ['a paragraph in a cell stays in its row', '<table><tr><td><p>A</p><td><div><p>on</p></div></table>', 'A | on |'],
    ['a caption stands above its table', '<table><caption>Codes</caption><tr><td>1</table>', 'Codes\n1 |'],
    ['a summary and its details stand apart', '<details><summary>More</summary>Days</details>', 'More\nDays'],
    ['code keeps its lines', '<pre><code>SELECT a\n  FROM t;</code></pre>', 'SELECT a\n  FROM t;'],
    [
      'a formula is shown by its source, once',
      'Where <math><semantics><msup><mi>y</mi><mn>2</mn></msup><annotation encoding="application/x-tex">y^2</annotation></semantics></math><span aria-hidden="true">y2</span>',
      'Where y^2',
    ],
    [
      'text within a form is text',
      `<form method=post><h1>Rule 12</h1><select><option>a</select>Net.</form>`,
      'Rule 12\n\nNet.',
    ],
    ['text for browsers without scripts is text', '<body><noscript>Plain</noscript>', 'Plain'],
    ['an address of mail is no link', 'Ask <a href="mailto:a@example.org">us</a>', 'Ask us'],
    ['a control character goes nowhere', 'a&#27;[31mb&#x9b;c\u0007', 'a[31mb›c'],
  ])('%s', (_claim, body, expected) => {
    expect(text(body)).toBe(expected);
  });

  test('links start from the base that the page names', () => {
    const page = '<head><base href="https://docs.example.org/v2/"></head><a href="codes">codes</a>';
    expect(text(page)).toBe('codes [https://docs.example.org/v2/codes]');
  });

  test('notes within the main part stay, ornament around it goes', () => {
    const page = `<aside>Ad</aside><main>${LONG}<aside>Net of tax.</aside><footer>Since 2020.</footer></main><footer>Imprint</footer>`;
    expect(text(page)).toMatch(/Net of tax\.\s+Since 2020\.$/);
    expect(text(page)).not.toMatch(/Ad|Imprint/);
  });

  test('the main part is known by its role as well', () => {
    expect(text(`<div>Menu</div><div role="main">${LONG}</div>`)).toBe(LONG);
  });

  test('an article that is a teaser beside the text does not stand for it', () => {
    const page = `<body><div>${LONG} ${LONG} THE RULE</div><article>${'Another story. '.repeat(15)}</article></body>`;
    expect(text(page)).toContain('THE RULE');
    expect(text(`<body><div>Menu</div><article>${LONG}</article></body>`)).toBe(LONG);
  });

  test.each([
    ['a comment', '<!-- <title>No</title> --><title>Yes</title>'],
    ['a script', '<script>"<title>No</title>"</script><title>Yes</title>'],
    ['a picture', '<html><head><title>Yes</title></head><body><svg><title>No</title></svg></body></html>'],
  ])('the title is the one of the page, not of %s', (_claim, page) => {
    expect(read(page).title).toBe('Yes');
  });

  test('a list that counts in Roman numbers from a billion is no bomb', () => {
    const page = `<ol type=I start=999999999>${'<li>x'.repeat(1_000)}</ol>`;
    expect(text(page)).toMatch(/^1\. +x\n +2\. /);
  });
});

describe('bytes', () => {
  const german = 'Größe';
  const utf16 = (content: string) => Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(content, 'utf16le')]);
  const latin = (content: string) => Buffer.from(content, 'latin1');

  test.each<[string, string | Buffer, string, string]>([
    ['UTF-16 by its mark', utf16(`<p>${german}`), 'text/html', german],
    ['UTF-16, the other way round', utf16(`a,${german}`).swap16(), 'text/csv', `a,${german}`],
    ['a mark against the header', `\ufeff${german}`, 'text/plain; charset=iso-8859-1', german],
    ['nothing said, and no UTF-8', latin(`<p>${german}`), 'text/html', german],
    ['a meta element', latin(`<meta charset="iso-8859-1"><p>${german}`), 'text/html', german],
    ['a meta element that cannot be right', `<meta charset="utf-16"><p>${german}`, 'text/html', german],
    [
      'the first line of XML',
      latin(`<?xml version="1.0" encoding="iso-8859-1"?><html><body>${german}`),
      'application/xhtml+xml',
      german,
    ],
    ['an encoding that nobody knows', german, 'text/plain; charset=klingon', german],
    ['a text about charsets', `use charset=utf-16 ${german}`, 'text/plain', `use charset=utf-16 ${german}`],
    ['Japanese', Buffer.from([0x93, 0xfa, 0x96, 0x7b]), 'text/plain; charset=Shift_JIS', '日本'],
  ])('%s is read', (_claim, body, type, expected) => {
    expect(text(body, type)).toBe(expected);
  });

  test('a character that the limit of the body cut is no sign of another charset', () => {
    expect(text(Buffer.from(german).subarray(0, 4), 'text/plain')).toMatch(/^Grö/);
  });

  test.each([
    ['a picture', Buffer.from([0x89, 0x50, 0x4e, 0x47, 1, 2, 3, 4, 0xff, 0xfe])],
    ['an archive', Buffer.from([80, 75, 3, 4, 0, 0])],
  ])('%s that calls itself text is refused', (_claim, body) => {
    expect(() => read(body, 'text/plain')).toThrow('it says it is text/plain, but it is binary');
  });

  test('a cut leaves characters whole', () => {
    const page = read('😀😀😀', 'text/plain', 3);
    expect(page).toMatchObject({ text: '😀', cut: true });
    expect(read(`<title>${'x'.repeat(199)}😀</title>`).title).toBe('x'.repeat(199));
  });
});

test.each(['text/xml', 'application/xml', 'application/rss+xml', 'text/x-rst', 'application/yaml', 'text/markdown'])(
  '%s passes as it is',
  (type) => {
    const body = '<?xml version="1.0"?><codes><code id="1">Late</code></codes>';
    expect(read(body, type)).toEqual({ title: null, text: body, cut: false });
  },
);

test.each(['text/css', 'text/javascript', 'image/svg+xml', 'application/zip', 'font/woff2', 'x'])(
  '%s is not read',
  (type) => {
    expect(() => readableType(type)).toThrow(`${type} is not read; only HTML, XML, plain text, JSON and CSV are`);
  },
);
