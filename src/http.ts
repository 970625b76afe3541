// Puts a question to a web server and takes an answer that is bounded in time and size.
import { reasonOf } from './words/one-line.ts';

export type Question = {
  method?: 'GET' | 'POST';
  headers?: Readonly<Record<string, string>>;
  body?: string | URLSearchParams;
  /** Time limit for the whole answer. */
  answerSeconds: number;
  mostBytes: number;
  /** Ends the question, which then has no answer. */
  signal?: AbortSignal;
};

export type Answer = {
  kind: 'answered';
  status: number;
  statusText: string;
  headers: Headers;
  /** Undefined for one of more than `mostBytes`. */
  body: Buffer | undefined;
};

type NoAnswer = {
  kind: 'no-answer';
  why: string;
  /** Code of Node's error, where it has one. */
  code: string;
};

/** Never rejects. Redirects are answers like others: to follow one would be to tell somebody else what was asked. */
export async function ask(url: URL | string, question: Question): Promise<Answer | NoAnswer> {
  const { answerSeconds, mostBytes, signal, ...request } = question;
  const timeout = AbortSignal.timeout(answerSeconds * 1000);
  try {
    const response = await fetch(url, {
      ...request,
      redirect: 'manual',
      signal: AbortSignal.any([timeout, ...(signal === undefined ? [] : [signal])]),
    });
    const { status, statusText, headers } = response;
    const body = await bytesWithin(mostBytes, response.body ?? []);
    return { kind: 'answered', status, statusText, headers, body };
  } catch (error) {
    if (timeout.aborted && signal?.aborted !== true) {
      return { kind: 'no-answer', why: `no whole answer within ${answerSeconds} s`, code: '' };
    }
    // What fetch throws has its reason as its cause.
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
    return { kind: 'no-answer', why: reasonOf(cause), code };
  }
}

/** Undefined for more than so many: the stream is then closed, whatever was promised of its length. */
export async function bytesWithin(
  mostBytes: number,
  stream: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes > mostBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
