/**
 * Whether an endpoint's error says that the request does not fit the model's context. OpenAI and llama.cpp have a code for
 * it; vLLM, Ollama, LiteLLM, OpenRouter, TGI and gateways to Anthropic, Gemini and Mistral only say it in words, some with
 * a status of 500.
 */
const CODES: ReadonlySet<string> = new Set(['context_length_exceeded', 'exceed_context_size_error']);

const WORDS = [
  /context[ _-]?(length|size|window)[ _-]?(limit )?(has been |is |was )?exceeded/i,
  /exceed(s|ed|ing)? (the )?(model'?s )?(maximum |available |configured )?context/i,
  /maximum context length/i,
  /longer than the maximum model length/i,
  /input tokens exceed/i,
  /(prompt|input|request) is too long\b/i,
  /input token count.{0,40}exceeds/i,
  /reduce the length of the (messages|prompt|input)/i,
  /inputs`? tokens \+ `?max_new_tokens/i,
];

export function isContextTooLong(failure: {
  readonly code: string | null;
  readonly type: string | null;
  readonly message: string;
}): boolean {
  const { code, type, message } = failure;
  if (code !== null && CODES.has(code)) return true;
  if (type !== null && CODES.has(type)) return true;
  return WORDS.some((words) => words.test(message));
}
