/** Hexadecimal SHA-256 of a text: the hash that steps, stores and ids share. Apart, so that using it loads nothing else. */
import { createHash } from 'node:crypto';

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
