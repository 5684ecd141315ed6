import { describe, expect, test } from 'vitest'
import { deployments } from '../../scripts/manifests.ts'
import { replica } from '../support/world.ts'
import { envOf, externalDeployments, matches, named, ofKind, processesOf, readManifests } from './support/manifests.ts'

describe.each(externalDeployments)('%s', (deployment) => {
  const manifests = readManifests(deployment)
  const processes = processesOf(manifests)

  test('API and workers are separate Deployments that roll without a gap', () => {
    expect(processes.map(({ name, container }) => [name, envOf(container)['ROLE']?.value])).toEqual([
      ['assay-api', 'api'],
      ['assay-worker', 'worker'],
    ])
    for (const { metadata, spec } of ofKind(manifests, 'Deployment'))
      expect(spec?.strategy, metadata.name).toEqual({ type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } })
    const budgets = ofKind(manifests, 'PodDisruptionBudget').map(({ metadata }) => metadata.name)
    expect(budgets).toEqual(expect.arrayContaining(['assay-api', 'assay-worker']))
  })

  test('the Service sends requests to the API only', () => {
    const { spec } = named(ofKind(manifests, 'Service'), 'assay')
    expect(processes.filter(({ labels }) => matches(spec?.selector, labels)).map(({ name }) => name)).toEqual(['assay-api'])
  })

  test('a Job migrates before the rest changes, without a pooler', () => {
    const job = named(ofKind(manifests, 'Job'), 'assay-migrate')
    expect(job.metadata.annotations?.['helm.sh/hook']).toBe('pre-install,pre-upgrade')
    const [container] = job.spec?.template.spec?.containers ?? []
    const distribute = deployment === 'citus' ? ['--distribute'] : []
    expect(container?.command).toEqual(['node', 'bin/assay.mjs', 'migrate', ...distribute])
    const { DATABASE_URL } = envOf(container ?? { name: '' })
    expect(DATABASE_URL?.valueFrom?.secretKeyRef?.key).toBe(deployment === 'pooler' ? 'DIRECT_DATABASE_URL' : 'DATABASE_URL')
    const hooks = manifests.filter(({ metadata }) => metadata.annotations?.['helm.sh/hook'])
    expect(hooks.map(({ kind }) => kind).sort()).toEqual(['Job', 'NetworkPolicy'])
    expect(job.spec?.template.spec).not.toHaveProperty('serviceAccountName')
  })
})

describe.each(['postgres', 'failover', 'citus'] as const)('%s', (deployment) => {
  test('processes wake each other through the database itself', () => {
    for (const { name, container } of processesOf(readManifests(deployment)))
      expect(envOf(container)['DIRECT_DATABASE_URL']?.valueFrom?.secretKeyRef, name).toEqual({ name: 'assay', key: 'DATABASE_URL' })
  })
})

describe('embedded', () => {
  const manifests = readManifests('embedded')

  test('is one pod with a volume for the database', () => {
    const [set] = ofKind(manifests, 'StatefulSet')
    expect(set?.spec).toMatchObject({ replicas: 1, volumeClaimTemplates: [{ metadata: { name: 'data' } }] })
    const [process] = processesOf(manifests)
    expect(envOf(process?.container ?? { name: '' })['ROLE']?.value).toBe('all')
    expect(process?.pod.securityContext?.fsGroupChangePolicy).toBe('OnRootMismatch')
  })

  test('starts without a Secret', () => {
    const [process] = processesOf(manifests)
    const references = process?.container.env?.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef ?? []) ?? []
    expect(references.filter(({ optional }) => !optional)).toEqual([])
  })

  test('has no Job, budget or autoscaler, because a second process cannot start', () => {
    const kinds = manifests.map(({ kind }) => kind)
    for (const kind of ['Deployment', 'Job', 'PodDisruptionBudget', 'HorizontalPodAutoscaler']) expect(kinds).not.toContain(kind)
  })
})

describe('pooler', () => {
  const manifests = readManifests('pooler')

  test('runs PgBouncer in transaction mode with prepared statements', () => {
    expect(ofKind(manifests, 'Service').map(({ metadata }) => metadata.name)).toContain('assay-pgbouncer-primary')
    for (const { data } of ofKind(manifests, 'ConfigMap')) {
      expect(data?.['pgbouncer.ini']).toMatch(/^pool_mode = transaction$/m)
      expect(data?.['pgbouncer.ini']).toMatch(/^max_prepared_statements = [1-9]\d*$/m)
    }
  })

  test('every process has the three URLs', () => {
    for (const { name, container } of processesOf(manifests))
      for (const url of ['DATABASE_URL', 'DIRECT_DATABASE_URL', 'READ_DATABASE_URL'])
        expect(envOf(container)[url]?.valueFrom?.secretKeyRef, name).toEqual({ name: 'assay', key: url })
  })
})

test.each(['api', 'worker', 'all'])('a process with ROLE=%s serves its probes and metrics', async (role) => {
  const processes = deployments.flatMap((deployment) => processesOf(readManifests(deployment)))
  const containers = processes.map(({ container }) => container).filter((container) => envOf(container)['ROLE']?.value === role)
  const probed = containers.flatMap(({ startupProbe, readinessProbe, livenessProbe }) =>
    [startupProbe, readinessProbe, livenessProbe].map((probe) => probe?.httpGet?.path),
  )
  const monitors = deployments.flatMap((deployment) => ofKind(readManifests(deployment), 'ServiceMonitor'))
  const scraped = monitors.flatMap(({ spec }) => spec.endpoints.map(({ path }) => path))
  const { base } = await replica({ env: { ROLE: role } })
  const paths = [...new Set([...probed, ...scraped])]
  expect(paths.sort()).toEqual(['/health', '/metrics', '/ready'])
  for (const path of paths) expect((await fetch(`${base}${path}`)).status, path).toBe(200)
})
