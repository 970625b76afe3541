// A hand-written Redfish service with one machine, which obeys or refuses as a test defines.
import type { IncomingMessage, RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { type Certificate, type HttpsServer, startHttps } from './https-server.ts';

type Manners = {
  /** States of the machine after PowerCycle, one for each poll; then it is on. */
  cycle?: readonly string[];
  /** Statuses of the resets that it refuses, with the message `No`. */
  refuses?: Readonly<Record<string, number>>;
  /** Absent: it does not list its resets. */
  allowed?: readonly string[];
};

/** `resets` are the types requested so far. The machine is initially on. */
export async function startBmc(
  certificate: Certificate,
  { cycle = [], refuses = {}, allowed }: Manners = {},
): Promise<HttpsServer & { readonly resets: string[] }> {
  const resets: string[] = [];
  let state = 'On';
  let coming: string[] = [];

  const obey = (type: string) => {
    if (type === 'PowerCycle') coming = [...cycle];
    else state = type === 'ForceOff' ? 'Off' : 'On';
  };
  const system = () => ({
    PowerState: coming.shift() ?? state,
    Actions: {
      '#ComputerSystem.Reset': {
        target: '/redfish/v1/Systems/1/Actions/ComputerSystem.Reset',
        'ResetType@Redfish.AllowableValues': allowed,
      },
    },
  });
  const reset = async (request: IncomingMessage): Promise<RequestListener> => {
    const { ResetType: type } = JSON.parse(await text(request));
    resets.push(type);
    const refusal = refuses[type];
    if (refusal !== undefined) return json(refusal, { error: { message: 'No' } });
    obey(type);
    return json(204);
  };
  const server = await startHttps(certificate, async (request, response) => {
    const answer = request.method === 'POST' ? await reset(request) : json(200, system());
    answer(request, response);
  });
  return { ...server, resets };
}

/** Replies to every request with the same document. */
export const json =
  (status: number, document?: object, headers: Record<string, string> = {}): RequestListener =>
  (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(document && JSON.stringify(document));
  };

export const redirect = (location: string): RequestListener => json(307, {}, { location });
