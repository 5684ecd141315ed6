import { join } from 'node:path'

/** Everything we keep in DATA_DIR for our own PostgreSQL. */
export const clusterPaths = (dataDir: string) => ({
  dataDir,
  cluster: join(dataDir, 'postgres'),
  log: join(dataDir, 'postgres.log'),
  lock: join(dataDir, 'postgres.lock'),
  access: join(dataDir, 'postgres.json'),
})

export type ClusterPaths = ReturnType<typeof clusterPaths>
