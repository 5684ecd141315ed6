import type { Command } from './command.ts'

/** The module of each command group. A command loads only its own module, because loading all of them takes most of a second. */
const modules = new Map<string, () => Promise<object>>([
  ['audit', () => import('./audit.ts')],
  ['backup', () => import('./backup.ts')],
  ['bootstrap', () => import('./bootstrap.ts')],
  ['capacity', () => import('./capacity.ts')],
  ['catalog', () => import('./catalog.ts')],
  ['cloud-sim', () => import('./cloud-sim.ts')],
  ['completion', async () => (await import('./table.ts')).commands],
  ['conformance', () => import('./conformance.ts')],
  ['doctor', () => import('./doctor.ts')],
  ['erasure', () => import('./erasure.ts')],
  ['events', () => import('./events.ts')],
  ['evidence', () => import('./evidence.ts')],
  ['export', () => import('./export.ts')],
  ['import', () => import('./import.ts')],
  ['keys', async () => ({ ...(await import('./keys.ts')), ...(await import('./rotate.ts')) })],
  ['lab-accounts', () => import('./lab-accounts.ts')],
  ['lab-keys', () => import('./lab-keys.ts')],
  ['lab-sim', () => import('./lab-sim.ts')],
  ['lab-tests', () => import('./lab-tests.ts')],
  ['labs', async () => ({ ...(await import('./lab-profiles.ts')), ...(await import('./lab-messages.ts')) })],
  ['listen', () => import('./listen.ts')],
  ['migrate', () => import('./migrate.ts')],
  ['orders', async () => ({ ...(await import('./orders.ts')), ...(await import('./critical.ts')) })],
  ['org', () => import('./org.ts')],
  ['people', () => import('./people.ts')],
  ['replay', () => import('./replay.ts')],
  ['restore', () => import('./backup.ts')],
  ['sandbox', () => import('./sandbox.ts')],
  ['schedule', () => import('./schedule.ts')],
  ['seed', async () => ({ ...(await import('./seed.ts')), ...(await import('./seed-wearables.ts')) })],
  ['serve', () => import('./serve.ts')],
  ['sources', () => import('./sources.ts')],
  ['team', () => import('./org.ts')],
  ['unmatched-results', () => import('./unmatched-results.ts')],
  ['users', () => import('./users.ts')],
  ['webhooks', async () => ({ ...(await import('./replay.ts')), ...(await import('./disclosures.ts')) })],
])

/** Former names of command groups. They keep working, and neither help nor completion shows them. */
export const renamedGroups = new Map([['catalogue', 'catalog']])

/** Loads the command that the first one or two words name. */
export async function loadCommand(words: string[]): Promise<Command | undefined> {
  const [group = ''] = words
  const exported: unknown[] = Object.values((await modules.get(group)?.()) ?? {})
  const commands = exported.filter(isCommand)
  return commands.find(({ name }) => name === words.slice(0, 2).join(' ')) ?? commands.find(({ name }) => name === group)
}

const isCommand = (value: unknown): value is Command => typeof value === 'object' && value !== null && 'name' in value && 'run' in value
