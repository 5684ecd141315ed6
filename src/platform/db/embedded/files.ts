import { join } from 'node:path'

/** The files of the embedded PostgreSQL in DATA_DIR. */
export const clusterPaths = (dataDir: string) => ({
  dataDir,
  cluster: join(dataDir, 'postgres'),
  log: join(dataDir, 'postgres.log'),
  lock: join(dataDir, 'postgres.lock'),
  access: join(dataDir, 'postgres.json'),
})

export type ClusterPaths = ReturnType<typeof clusterPaths>
