/**
 * Vectors without a model: a seeded, hashed bag of words in which all words of a group below count as one. So texts are near
 * if they share words or synonyms from the groups, and the same text always gets the same vector. This shows how ranking by
 * meaning works and measures nothing of a real model.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { wordsOf } from '../src/schema/lexical';

export const EmbeddingsBody = z.object({
  model: z.string(),
  input: z.union([z.string(), z.array(z.string()).min(1).max(2048)]),
  encoding_format: z.enum(['float', 'base64']).nullish(),
  dimensions: z.number().int().positive().max(4096).nullish(),
});
export type EmbeddingsBody = z.infer<typeof EmbeddingsBody>;

const LENGTH = 256;

const SAME_MEANING = [
  'employee staff worker personnel workforce headcount colleague',
  'leave quit resign resigned attrition departure termination exit separation',
  'salary wage pay payroll compensation remuneration earning',
  'customer client buyer shopper purchaser patron account',
  'revenue turnover sale income proceed',
  'invoice bill charge receivable',
  'order purchase basket checkout',
  'delivery shipment shipping freight consignment dispatch',
  'delay delayed late lateness overdue lag',
  'doctor physician clinician practitioner',
  'patient inpatient case',
  'supplier vendor provider',
  'product item article merchandise good sku',
  'stock inventory warehouse',
  'complaint ticket grievance incident issue',
  'refund refunded return returned reimbursement chargeback',
].map((group) => group.split(' '));
const GROUP_OF = new Map(SAME_MEANING.flatMap((group, at) => group.flatMap(wordsOf).map((word) => [word, `#${at}`])));

export function textsOf({ input }: EmbeddingsBody): readonly string[] {
  return typeof input === 'string' ? [input] : input;
}

/** The body of the reply, as compatible servers send it. */
export function embeddings(body: EmbeddingsBody, seed: number, promptTokens: number): object {
  const { model, dimensions, encoding_format: format } = body;
  return {
    object: 'list',
    model,
    data: textsOf(body).map((text, index) => {
      const vector = vectorOf(text, seed, dimensions ?? LENGTH);
      const embedding = format === 'base64' ? Buffer.from(vector.buffer).toString('base64') : [...vector];
      return { object: 'embedding', index, embedding };
    }),
    usage: { prompt_tokens: promptTokens, total_tokens: promptTokens },
  };
}

/** Of length 1, or 0 for a text without words. */
export function vectorOf(text: string, seed: number, length: number): Float32Array {
  const vector = new Float32Array(length);
  for (const meaning of new Set(wordsOf(text).map((word) => GROUP_OF.get(word) ?? word))) {
    const digest = createHash('sha256').update(`${seed} ${meaning}`).digest();
    // Each word sets four places with random signs, so a collision at one place does not make two words similar.
    for (let at = 0; at < 4; at += 1) {
      const place = digest.readUInt32LE(at * 8) % length;
      vector[place] = (vector[place] ?? 0) + (digest.readUInt8(at * 8 + 4) % 2 === 0 ? 1 : -1);
    }
  }
  const norm = Math.hypot(...vector);
  return norm === 0 ? vector : vector.map((value) => value / norm);
}
