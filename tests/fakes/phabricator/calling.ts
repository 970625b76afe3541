// Calls the fake, and receives its calls.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FakePhabricator } from './server.ts';

/** Calls like a well-behaved bot. */
export async function call(
  { url }: Pick<FakePhabricator, 'url'>,
  method: string,
  params: { [name: string]: unknown },
  token: string | undefined,
): Promise<unknown> {
  const about = token === undefined ? {} : { __conduit__: { token } };
  const body = new URLSearchParams({ params: JSON.stringify({ ...params, ...about }) });
  const response = await fetch(`${url}/api/${method}`, { method: 'POST', body });
  return response.json();
}

/** Endpoint that the server calls, and which accepts everything. */
export async function listen(): Promise<AsyncDisposable & { url: string }> {
  const server = createServer((_request, response) => response.end());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

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
