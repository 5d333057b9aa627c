/** Names of the ISO codes of lands (`NO`) and currencies (`EUR`), in the languages of most who ask. */
const LANGUAGES = ['en', 'de', 'fr', 'es'];

const KINDS = (
  [
    [/^[A-Z]{2}$/, 'region'],
    [/^[A-Z]{3}$/, 'currency'],
  ] as const
).map(([form, type]) => ({
  form,
  languages: LANGUAGES.map((language) => new Intl.DisplayNames([language], { type, fallback: 'none' })),
}));

/** In each language, the name of each value; nothing unless all of them are codes of one kind. */
export function isoNames(values: readonly string[]): readonly (readonly string[])[] {
  const kind = KINDS.find(({ form }) => values.every((value) => form.test(value)));
  return (kind?.languages ?? []).flatMap((names) => {
    const named = values.flatMap((code) => names.of(code) ?? []);
    return named.length === values.length ? [named] : [];
  });
}
