import { setTimeout as pause } from 'node:timers/promises'
import type { App } from '../../platform/app.ts'
import { LEASE_SECONDS, listRootEpochs } from '../../platform/db/schema/processes.ts'
import { setupProblem } from '../../platform/problem.ts'
import { resealDeployment } from '../../platform/sealing/rings/reseal-deployment.ts'
import { activateRoot, addRoot, epochOf, loadRoots, retireRoots } from '../../platform/sealing/roots.ts'
import { rewrapTeamKeys } from '../../platform/sealing/vault.ts'
import { SECOND } from '../../platform/time.ts'
import { renewAuditMacs } from '../../tenants/audit/rotation/actions.ts'
import { reencryptPeople } from '../../tenants/people/rotation/actions.ts'
import { deploymentColumns } from './sealed-columns.ts'

const BATCH_SIZE = 200
const POLL_MS = SECOND / 2
/** A killed process counts as running until its lease ends. */
const MAX_WAIT_MS = (LEASE_SECONDS + 45) * SECOND

type Step = (text: string) => void

/**
 * Replaces the root secret. Each step depends only on what the database has, so that an interrupted rotation continues where it
 * stopped: running processes load the new version, then it is active, then everything is encrypted with it, then the earlier
 * ones are retired.
 */
export async function rotateRoot(app: App, onStep: Step, reportRoots: () => Promise<void> = async () => {}) {
  const { db, vault } = app
  const waitForAll = () => waitForProcesses(app, reportRoots)
  const isUnfinished = vault.roots.slice(0, -1).some(({ isRetired }) => !isRetired)
  if (!isUnfinished) await addRoot(db, vault)
  onStep(`version ${vault.roots.at(-1)?.version}: waiting for all processes to load it`)
  await waitForAll()
  await activateRoot(db, vault)
  // A process that has not noticed yet still uses the version before.
  await waitForAll()
  onStep('encrypting the keys of teams, the people of organizations and the messages of labs with it')
  const counts = {
    teams: await rewrapAllTeamKeys(app),
    people: await reencryptPeople(app),
    chains: await renewAuditMacs(app),
    lab_rows: await resealDeployment(app, deploymentColumns),
  }
  await retireRoots(db, vault)
  return { version: vault.roots.at(-1)?.version ?? 0, ...counts }
}

async function rewrapAllTeamKeys(app: App) {
  let count = 0
  for (let batch = BATCH_SIZE; batch === BATCH_SIZE; ) {
    batch = await rewrapTeamKeys(app, BATCH_SIZE)
    count += batch
  }
  return count
}

/** This process is registered too. It reports at once, instead of at its next renewal. */
async function waitForProcesses(app: App, reportRoots: () => Promise<void>) {
  await loadRoots(app.db, app.vault)
  await reportRoots()
  const epoch = epochOf(app.vault.roots)
  for (let waited = 0; ; waited += POLL_MS) {
    const behind = (await listRootEpochs(app.db)).filter(({ root_epoch }) => (root_epoch ?? 0) < epoch)
    if (!behind.length) return
    if (waited >= MAX_WAIT_MS)
      throw setupProblem(
        `${behind.length} processes have not loaded the new version; restart them with the current settings of the key, and run this command again`,
      )
    await pause(POLL_MS)
  }
}
