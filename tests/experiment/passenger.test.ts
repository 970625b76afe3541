// What a gate offers to whoever has the testbed, and what it keeps of what is measured for it.
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Variant } from '../../src/build/variant.ts';
import { gatePassenger, packedLog } from '../../src/experiment/passenger.ts';
import { makePlan, writePlan } from '../../src/experiment/plan.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { aConfig, overlays, singleRuns } from '../fakes/plan.ts';
import { pullRequest } from '../fakes/result.ts';

const tree = (diff?: string) => ({
  kernel: {
    kind: 'tree' as const,
    baseCommit: 'a'.repeat(40),
    ...(diff && { diff: Buffer.from(diff).toString('base64') }),
  },
});
const [base = expect.fail('no base'), patched = expect.fail('no patch')] = overlays;
const kernels: Variant[] = [
  { ...base, ...tree() },
  { ...patched, ...tree('a change') },
];

const planOf = (
  variants: readonly Variant[] = kernels,
  changes: Parameters<typeof aConfig>[0] = singleRuns,
) =>
  makePlan(
    { patch: pullRequest, config: aConfig(changes), testbed: 'fake', seed: 1 },
    variants,
    [],
  );

async function aPassenger(plan = planOf(), directory = temporaryFolder()) {
  const passenger = await gatePassenger({
    ...{ directory, testbeds: ['fake'], planOn: async () => plan },
    async begin() {
      await writePlan(directory, plan);
      return plan;
    },
    onEvent() {},
  });
  return { passenger, directory };
}

const basesOf = async (plan: ReturnType<typeof planOf>) => {
  const { passenger } = await aPassenger(plan);
  return [...passenger.offers(false).values()].map(({ base }) => base);
};

test('patches of one base have one name for it, and those of another have another', async () => {
  const [own] = await basesOf(planOf());
  const other = { ...patched, ...tree('another change') };
  expect(await basesOf(planOf([kernels[0] ?? base, other]))).toEqual([own]);
  expect(await basesOf(planOf(kernels, { ...singleRuns, families: ['inet6'] }))).not.toEqual([own]);
});

test('what shares blasts, boots nothing, or is linked often is measured by itself', async () => {
  expect(await basesOf(planOf(overlays))).toEqual([]);
  expect(await basesOf(planOf(kernels, {}))).toEqual([]);
  const source = { kind: 'tree', baseCommit: 'a'.repeat(40), links: [1, 2] } as const;
  const linked = overlays.map((one) => ({
    ...one,
    kernel: { ...source, links: [...source.links] },
  }));
  expect(await basesOf(planOf(linked))).toEqual([]);
});

test('a kernel that is a file of one machine is offered to nobody on another', async () => {
  const archive = { kind: 'archive', path: '/kernel.tar', sha256: '1' } as const;
  const given = overlays.map((variant) => ({ ...variant, kernel: archive }));
  const { passenger } = await aPassenger(planOf(given));
  expect(passenger.offers(true).size).toBe(0);
  expect(passenger.offers(false).size).toBe(1);
});

test('logs are kept as they were, however long', async () => {
  const { passenger, directory } = await aPassenger();
  await passenger.boarded('fake', { who: 'alice' });
  // Noise cannot be compressed, so this takes several pieces.
  const content = randomBytes(9e5);
  const items = packedLog('blasts/001-forwarding-inet4', 'receiver.log', content);
  expect(items.length).toBeGreaterThan(1);
  for (const item of items) expect(await passenger.receive(item)).toBe(false);
  expect(readFileSync(join(directory, 'blasts/001-forwarding-inet4/receiver.log'))).toEqual(
    content,
  );
});

test('a log is written nowhere but below the work directory', async () => {
  const { passenger, directory } = await aPassenger();
  await passenger.boarded('fake', { who: 'alice' });
  for (const [folder, name] of [
    ['..', 'evil'],
    ['blasts/../..', 'evil'],
    ['blasts', '../../evil'],
    ['/tmp', 'evil'],
    ['blasts', '.journal'],
    ['', 'result.json'],
  ] as const) {
    for (const item of packedLog(folder, name, 'x')) {
      await expect(passenger.receive(item)).rejects.toThrow('no path below here');
    }
  }
  expect(existsSync(join(directory, '..', 'evil'))).toBe(false);
});

test('what is no item at all is refused', async () => {
  const { passenger } = await aPassenger();
  await passenger.boarded('fake', { who: 'alice' });
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.string(), fc.json()), async (item) => {
      await expect(passenger.receive(item)).rejects.toThrow();
    }),
    { numRuns: 30 },
  );
});
