/** Reads a CloudFormation template: short forms of functions become text (`!Ref A` is "Ref A"), lists and objects stay. */
import { parse, type ScalarTag } from 'yaml';

export interface Template {
  readonly Parameters: Readonly<Record<string, { readonly Default?: string | number }>>;
  readonly Conditions: Readonly<Record<string, unknown>>;
  readonly Resources: Readonly<Record<string, Resource | undefined>>;
  readonly Outputs: Readonly<Record<string, { readonly Value: unknown }>>;
}

export interface Resource {
  readonly Type: string;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
  readonly Properties: Readonly<Record<string, unknown>>;
}

const scalar = (name: string, prefix: string): ScalarTag => ({ tag: `!${name}`, resolve: (text) => prefix + text });

export function parseTemplate(text: string): Template {
  const customTags = [
    ...[scalar('Ref', 'Ref '), scalar('GetAtt', 'GetAtt '), scalar('Sub', '')],
    ...(['If', 'Equals', 'Not', 'Join'] as const).map((name) => ({ tag: `!${name}`, collection: 'seq' as const })),
  ];
  return parse(text, { customTags }) as Template;
}
