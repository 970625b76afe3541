// Requests that the server itself sends, with exactly the real one's headers, in order.
import { request } from 'node:http';

/**
 * Status of the response; null without one, or if the URI is invalid. @param headers after `Host`, `User-Agent` and
 * `Accept`
 */
export function sendOut(
  uri: string,
  method: string,
  headers: { [name: string]: string },
  body = '',
): Promise<number | null> {
  if (!URL.canParse(uri)) return Promise.resolve(null);
  const first = {
    Host: new URL(uri).host,
    'User-Agent': 'Arcanist/1.0 cURL/7.88.1',
    Accept: '*/*',
  };
  return new Promise((resolve) => {
    const sent = request(uri, { method, headers: { ...first, ...headers } }, (response) => {
      response.resume();
      response.on('close', () => resolve(response.statusCode ?? null));
    });
    sent.removeHeader('Connection');
    sent.on('error', () => resolve(null)).end(body);
  });
}
