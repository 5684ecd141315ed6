import { join } from 'node:path'
import { root } from '../test/support/process.ts'
import { openSite, type Site } from './site.ts'
import type * as usage from './usage.ts'

/** A version of the service with a PostgreSQL server of its own. Each version knows by which tables it is idle. */
export type Version = { name: string; site: Site; waitUntilIdle: typeof usage.waitUntilIdle }
type Options = { connections: number; pooler: number | undefined; baseline: string | undefined }

/** Opens this version first, and then the checkout of another one to compare with. */
export async function withVersions<T>({ connections, pooler, baseline }: Options, work: (versions: Version[]) => Promise<T>) {
  const versions: Version[] = []
  try {
    for (const checkout of baseline ? [undefined, baseline] : [undefined]) versions.push(await openVersion(connections, pooler, checkout))
    return await work(versions)
  } finally {
    for (const { site } of versions) await site.close()
  }
}

async function openVersion(connections: number, pooler: number | undefined, checkout: string | undefined): Promise<Version> {
  const { waitUntilIdle } = (await import(join(checkout ?? root, 'bench/usage.ts'))) as typeof usage
  return { name: checkout ? 'baseline' : 'this version', site: await openSite(connections, { pooler, checkout }), waitUntilIdle }
}

/** Calls `work` for each version in every round, and in reverse in every other one, so that all run under the same conditions. */
export async function inTurn<T>(versions: T[], rounds: number, work: (version: T) => Promise<unknown>) {
  for (let round = 0; round < rounds; round++) for (const version of round % 2 ? versions.toReversed() : versions) await work(version)
}
