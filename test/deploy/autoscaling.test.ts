import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import type { Deployment } from '../../scripts/manifests.ts'
import { createMetrics } from '../../src/http/metrics/metrics.ts'
import type { Database } from '../../src/platform/db/open.ts'
import { root } from '../support/process.ts'
import { envOf, externalDeployments, named, ofKind, processesOf, readManifests } from './support/manifests.ts'

describe.each(externalDeployments)('%s', (deployment) => {
  const manifests = readManifests(deployment)

  test('the API scales by CPU', () => {
    const { spec } = named(ofKind(manifests, 'HorizontalPodAutoscaler'), 'assay-api')
    expect(spec?.scaleTargetRef).toEqual({ apiVersion: 'apps/v1', kind: 'Deployment', name: 'assay-api' })
    expect(spec?.metrics).toMatchObject([{ type: 'Resource', resource: { name: 'cpu' } }])
    expect(spec?.minReplicas).toBeGreaterThan(1)
    expect(named(ofKind(manifests, 'Deployment'), 'assay-api').spec).not.toHaveProperty('replicas')
  })
})

describe('the metric that scales the workers', () => {
  const { registry, backlogs } = createMetrics({} as Database)
  const [rule] = parse(readFileSync(join(root, 'deploy/helm/prometheus-adapter.yaml'), 'utf8')).rules.external

  test.each(['pooler', 'failover', 'citus'] as const)('%s uses the metric of the adapter', (deployment) => {
    const { spec } = named(ofKind(readManifests(deployment), 'HorizontalPodAutoscaler'), 'assay-worker')
    expect(spec?.scaleTargetRef.name).toBe('assay-worker')
    expect(spec?.metrics).toMatchObject([{ type: 'External', external: { metric: { name: rule.name.as } } }])
  })

  test('exists, and so does the series by which the adapter finds it', () => {
    const [lag, series] = [rule.name.as, /^\w+/.exec(rule.seriesQuery)?.[0] ?? '']
    expect(backlogs.getSingleMetric(lag)).toBeDefined()
    expect(registry.getSingleMetric(series)).toBeDefined()
    expect(rule.metricsQuery).toContain(`max by (webhook_id) (${lag}{`)
  })
})

/** How many connections the processes of a deployment open at most, while an upgrade runs one more process of each kind. */
function connectionsOf(deployment: Deployment) {
  const manifests = readManifests(deployment)
  return processesOf(manifests).reduce((sum, { name, container }) => {
    const autoscaler = ofKind(manifests, 'HorizontalPodAutoscaler').find(({ metadata }) => metadata.name === name)
    const replicas = autoscaler?.spec?.maxReplicas ?? named(ofKind(manifests, 'Deployment'), name).spec?.replicas ?? 1
    const { DATABASE_POOL_SIZE, ROLE } = envOf(container)
    return sum + (replicas + 1) * (Number(DATABASE_POOL_SIZE?.value) + (ROLE?.value === 'worker' ? 1 : 0))
  }, 0)
}

test.each(['postgres', 'failover', 'citus'] as const)('the values of %s say how many connections they need', (deployment) => {
  const values = readFileSync(join(root, `deploy/helm/assay/values-${deployment}.yaml`), 'utf8')
  expect(values).toContain(`these values need ${connectionsOf(deployment)}.`)
})

test.each(['postgres', 'failover'] as const)('the processes of %s fit into the default of 100 connections', (deployment) => {
  const RESERVED_FOR_SUPERUSERS = 3
  expect(connectionsOf(deployment)).toBeLessThanOrEqual(100 - RESERVED_FOR_SUPERUSERS)
})
