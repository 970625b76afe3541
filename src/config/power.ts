// Parses a machine's `power` in ppsgate.yml.
import { z } from 'zod';
import { expected } from '../model/units.ts';
import { closed, hostName, path, text, wholeNumber, wrongName } from './fields.ts';

export type PowerConfig = IpmiConfig | RedfishConfig | CommandConfig;

export type IpmiConfig = {
  kind: 'ipmi';
  host: string;
  port: number;
  user: string;
  /** Absent, here and below: PPSGATE_BMC_PASSWORD in the environment. */
  passwordPath?: string;
  /**
   * Number in IPMI 2.0, table 22-20: 3 is SHA-1 with AES-128, 17 is SHA-256 with AES-128; 0 would be no authentication.
   */
  cipherSuite: number;
};

export type RedfishConfig = {
  kind: 'redfish';
  url: string;
  user: string;
  passwordPath?: string;
  /** 64 lowercase hexadecimal digits: only this certificate is trusted. */
  certificateSha256?: string;
  /** PEM of the trusted authority. Neither: Node's authorities. */
  caPath?: string;
};

/** Programs with arguments, run on this machine without a shell; they exit with 0 on success. */
export type CommandConfig = {
  kind: 'command';
  on: string[];
  off: string[];
  /** Prints `on` or `off`. */
  state: string[];
  /** Absent: off and on. */
  cycle?: string[];
};

const kinds = ['redfish', 'ipmi', 'command'] as const;

const account = {
  user: text(/^[^\p{C}\s:]{1,64}$/u, 'a user name'),
  passwordFile: path.optional().describe('Left out, it is PPSGATE_BMC_PASSWORD in the environment.'),
};

export const ipmiSchema = closed({
  kind: z.literal('ipmi'),
  host: text(hostName, 'a host name or an address, without user or port'),
  port: wholeNumber(1, 65535).prefault(623),
  ...account,
  cipherSuite: wholeNumber(1, 17)
    .prefault(3)
    .describe('Number in IPMI 2.0: 3 is SHA-1 with AES-128, 17 is SHA-256 with AES-128.'),
}).transform(
  ({ passwordFile, ...rest }): IpmiConfig => ({
    ...rest,
    ...(passwordFile !== undefined && { passwordPath: passwordFile }),
  }),
);

const systemUrl = { error: expected('a URL like https://bmc.lab/redfish/v1/Systems/1') };
const fingerprint = text(/^(?:[0-9a-fA-F]{2}:?){31}[0-9a-fA-F]{2}$/, 'a SHA-256 fingerprint of 64 hexadecimal digits');

const redfish = closed({
  kind: z.literal('redfish'),
  url: z
    .string(systemUrl)
    .refine(isSystemUrl, systemUrl)
    .describe('The URL of the system, like https://bmc.lab/redfish/v1/Systems/1.'),
  ...account,
  certificateSha256: fingerprint.optional().describe('This certificate is trusted and no other.'),
  ca: path.optional().describe('PEM of the authority that is trusted; left out, those that Node knows.'),
})
  .refine(({ certificateSha256, ca }) => certificateSha256 === undefined || ca === undefined, {
    path: ['ca'],
    error: 'with `certificateSha256` no other certificate is trusted; leave one of the two out',
  })
  .transform(
    ({ kind, url, user, passwordFile, certificateSha256, ca }): RedfishConfig => ({
      kind,
      url,
      user,
      ...(passwordFile !== undefined && { passwordPath: passwordFile }),
      ...(certificateSha256 !== undefined && {
        certificateSha256: certificateSha256.replaceAll(':', '').toLowerCase(),
      }),
      ...(ca !== undefined && { caPath: ca }),
    }),
  );

const likeAList = { error: expected('a list of words like [pdu, off, "4"]') };
export const argvSchema = z.array(text(/^[^\0]+$/, 'a word in quotes'), likeAList).min(1, likeAList);

const command = closed({
  kind: z.literal('command'),
  on: argvSchema,
  off: argvSchema,
  state: argvSchema.describe('Prints `on` or `off`.'),
  cycle: argvSchema.optional().describe('Left out, off and on.'),
}).transform(({ cycle, ...rest }): CommandConfig => ({ ...rest, ...(cycle !== undefined && { cycle }) }));

/** Paths stay as written. */
export const powerSchema = z.discriminatedUnion('kind', [redfish, ipmiSchema, command], {
  error: wrongPower,
}) satisfies z.ZodType<PowerConfig>;

/** Requires HTTPS, which protects the password. */
function isSystemUrl(written: string): boolean {
  const url = URL.parse(written);
  const extras = [url?.username, url?.password, url?.search, url?.hash].join('');
  return url?.protocol === 'https:' && extras === '' && url.pathname !== '/';
}

function wrongPower({ code, input }: z.core.$ZodRawIssue): string {
  if (code !== 'invalid_union') return expected('keys and values')({ input });
  return wrongName(kinds)({ input: (input as { kind?: unknown }).kind });
}
