import type { Logger } from 'pino'
import { MAX_STALENESS_MS, openReplica as openReplicaOf, type Replica } from '../../platform/db/connections/replica.ts'
import type { Db } from '../../platform/db/open.ts'
import { identity } from './store.ts'

type Limits = { maxStalenessMs: number }

/** Opens a read replica of the deployment. `limits` are for tests. */
export const openReplica = (
  url: string,
  primary: Db,
  size: number,
  log: Logger,
  limits: Limits = { maxStalenessMs: MAX_STALENESS_MS },
): Replica => openReplicaOf(url, primary, size, log, { identity, ...limits })
