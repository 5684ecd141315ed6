import type { MetricObject } from 'prom-client'
import type { Metrics } from '../metrics/metrics.ts'

/** The other processes of this service, which share its port. */
export type Siblings = {
  /** The metrics of each other process that responds in time. */
  collectMetrics(): Promise<MetricObject[][]>
  /** Siblings collect these. */
  shareMetrics(metrics: Metrics): void
  /** Opens an event stream for a team if the processes together have fewer than `limit`. Returns whether it did. */
  openStream(team: string, limit: number): Promise<boolean>
  closeStream(team: string): void
}
