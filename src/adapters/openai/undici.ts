/** The part of an HTTP client that loads at the first request (`endpoint.ts`). */
export { Agent, fetch } from 'undici';
