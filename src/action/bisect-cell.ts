// Chooses the cell that a bisection measures: the requested one, the worst of the patch's last result, or the usual
// one.

import type { NamingStyle } from '../config/parameters.ts';
import { type Config, scenariosIn } from '../config/schema.ts';
import type { BisectOverrides } from '../forge/patch/bisect-command.ts';
import { type Repository, RepositoryError } from '../forge/patch/repository.ts';
import { parseJson } from '../model/json.ts';
import { isCost } from '../model/metric.ts';
import { type Patch, patchIdentity, patchName } from '../model/patch.ts';
import { type CellResult, resultSchema } from '../model/result.ts';
import { type Cell, families } from '../model/scenario.ts';
import { excerpt } from '../model/units.ts';
import { UsageError } from '../model/usage-error.ts';
import { indexPath, parseIndex } from '../publish/data-branch/layout.ts';
import { worstFirst } from '../report/cell-rows.ts';

export async function cellFor(
  { scenarios, families: familyNames }: Pick<BisectOverrides, 'scenarios' | 'families'>,
  patch: Patch,
  config: Config,
  { repository, naming }: { repository: Repository; naming: NamingStyle },
): Promise<Cell> {
  const scenario = one(scenarios, naming('scenarios'));
  const text = one(familyNames, naming('families'));
  const family = families.find((name) => name === text);
  if (text !== undefined && family === undefined) {
    throw new UsageError(`${naming('families')}: expected ${families.join(' or ')}, found "${excerpt(text)}".`);
  }
  const branch = config.github.data.branch;
  const isOpen = scenario === undefined && family === undefined && branch !== undefined;
  const worst = isOpen ? await worstCellOf(patch, repository, branch) : undefined;
  if (worst !== undefined && scenariosIn(config).includes(worst.scenario)) return worst;
  return { scenario: scenario ?? 'forwarding', family: family ?? 'inet4' };
}

function one(text: string | undefined, option: string): string | undefined {
  if (!text?.includes(',')) return text?.trim() || undefined;
  throw new UsageError(`${option}: a bisection needs exactly one, found "${excerpt(text)}".`);
}

/** Reads the newest result on the data branch. Writers of that branch only influence which cell is measured. */
async function worstCellOf(patch: Patch, repository: Repository, branch: string): Promise<Cell | undefined> {
  try {
    const commit = await repository.resolve(`origin/${branch}`);
    const index = parseIndex(await repository.read(`${commit}:${indexPath}`));
    const last = index?.results.findLast((result) => result.patch === patchName(patch));
    if (last === undefined) return undefined;
    const text = await repository.read(`${commit}:${last.path}/result.json`);
    const result = resultSchema.safeParse(parseJson(text));
    if (result.data?.outcome.kind !== 'judged') return undefined;
    // The index names ranges by short ids, which other commits may share.
    const isOther = patchIdentity(result.data.patch) !== patchIdentity(patch);
    if (patch.kind === 'range' && isOther) return undefined;
    const { outcome, policy } = result.data;
    const [worst] = worstFirst(outcome.cells);
    const alike = outcome.cells.filter(({ verdict }) => verdict.kind === worst?.verdict.kind);
    const lossOf = ({ comparisons: [first] }: CellResult) =>
      (first?.interval.change ?? 0) * (isCost(policy.metric) ? 1 : -1);
    return alike.toSorted((a, b) => lossOf(b) - lossOf(a))[0]?.cell;
  } catch (error) {
    if (error instanceof RepositoryError) return undefined;
    throw error;
  }
}
