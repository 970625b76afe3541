// Parses a DUT's `console` in ppsgate.yml.
import { z } from 'zod';
import { expected } from '../model/units.ts';
import { closed, hostName, text, wholeNumber, wrongName } from './fields.ts';
import { argvSchema, type IpmiConfig, ipmiSchema } from './power.ts';

export type ConsoleConfig = IpmiConfig | ConserverConfig | CommandConsoleConfig;

export type ConserverConfig = {
  kind: 'conserver';
  console: string;
  /** Conserver's server; absent: as configured in the client. */
  host?: string;
  port?: number;
};

type CommandConsoleConfig = {
  kind: 'command';
  /** Program with arguments, run on this machine without a shell; its standard output is the console. */
  command: string[];
};

const kinds = ['ipmi', 'conserver', 'command'] as const;

const conserver = closed({
  kind: z.literal('conserver'),
  console: text(/^[\w.@:+][\w.@:+-]{0,63}$/, 'the name of a console of conserver'),
  host: text(hostName, "a host name or an address, that of conserver's server")
    .optional()
    .describe("The server; left out, as in the client's own configuration."),
  port: wholeNumber(1, 65535).optional().describe('Left out, 782.'),
}).transform(
  ({ host, port, ...rest }): ConserverConfig => ({
    ...rest,
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
  }),
);

const command = closed({
  kind: z.literal('command'),
  command: argvSchema.describe('Its standard output is the console.'),
});

export const consoleSchema = z.discriminatedUnion('kind', [ipmiSchema, conserver, command], {
  error: wrongConsole,
}) satisfies z.ZodType<ConsoleConfig>;

function wrongConsole({ code, input }: z.core.$ZodRawIssue): string {
  if (code !== 'invalid_union') return expected('keys and values')({ input });
  return wrongName(kinds)({ input: (input as { kind?: unknown }).kind });
}
