// Calls the fake, and receives its calls.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import type { FakePhabricator } from './server.ts';

const answerSchema = z.object({
  result: z.unknown(),
  error_code: z.string().nullable(),
  error_info: z.string().nullable(),
});

/** Calls like a well-behaved bot, with the bot's own token by default. */
export async function call(
  { url, token: own }: Pick<FakePhabricator, 'url' | 'token'>,
  method: string,
  params: { [name: string]: unknown } = {},
  token = own,
): Promise<z.infer<typeof answerSchema>> {
  const body = new URLSearchParams({
    params: JSON.stringify({ ...params, __conduit__: { token } }),
  });
  const response = await fetch(`${url}/api/${method}`, { method: 'POST', body });
  return answerSchema.parse(await response.json());
}

/** The rows of a search's response, as far as `schema` covers them. */
export async function rows<Row extends z.ZodType>(
  phabricator: FakePhabricator,
  method: string,
  params: { [name: string]: unknown },
  schema: Row,
): Promise<z.infer<Row>[]> {
  const { result } = await call(phabricator, method, params);
  return z.object({ data: z.array(schema) }).parse(result).data;
}

export type Heard = { method: string; path: string; headers: string[]; body: string };

/** Endpoint that the server calls: it records requests, and returns `status`, which a test may change. */
export async function listen(status = 200): Promise<Listener> {
  const heard: Heard[] = [];
  const listener: Pick<Listener, 'status' | 'meanwhile'> = { status };
  const server = createServer(async (request, response) => {
    const { method = '', url: path = '', rawHeaders: headers } = request;
    heard.push({ method, path, headers, body: await text(request) });
    await listener.meanwhile?.();
    response.writeHead(listener.status).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return Object.assign(listener, {
    url,
    heard,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  });
}

export type Listener = AsyncDisposable & {
  url: string;
  status: number;
  heard: Heard[];
  /** Called before it replies. */
  meanwhile?: () => Promise<unknown>;
};

/** Diff of one file with one added line. */
export const smallDiff = `diff --git a/sys/netinet/ip_fastfwd.c b/sys/netinet/ip_fastfwd.c
index 43050bd..6f99550 100644
--- a/sys/netinet/ip_fastfwd.c
+++ b/sys/netinet/ip_fastfwd.c
@@ -7,2 +7,3 @@ ip_tryforward(struct mbuf *m)
 	ip = mtod(m, struct ip *);
+	prefetch(ip);
 	dest = ip->ip_dst;
`;
