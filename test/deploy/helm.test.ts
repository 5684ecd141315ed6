import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { type Deployment, deployments, renderManifests } from '../../scripts/manifests.ts'
import { blocksOf } from '../docs/support/blocks.ts'
import { named, ofKind, parseManifests, readManifests, workloadsOf } from './support/manifests.ts'
import { schemaProblems } from './support/schema.ts'

const hasHelm = spawnSync('helm', ['version']).status === 0

const render = (deployment: Deployment, ...values: string[]) =>
  parseManifests(
    renderManifests(
      deployment,
      values.flatMap((value) => ['--set-json', value]),
    ),
  )

describe.skipIf(!hasHelm)(hasHelm ? 'helm' : 'helm (skipped: helm is not installed)', () => {
  test.each(deployments)('renders the committed manifests of %s', (deployment) => {
    expect(readManifests(deployment), 'Run: npm run manifests').toEqual(render(deployment))
  })

  // Helm 3 and 4 word the same schema error differently.
  test.each([
    ['postgres', 'api.replicas=0', /api.replicas/],
    [
      'postgres',
      'worker.autoscaling={"enabled":true,"minReplicas":4}',
      'worker.autoscaling.minReplicas must not be larger than maxReplicas',
    ],
    ['postgres', 'api.terminationGracePeriodSeconds=29', 'at least api.preStopSeconds plus 25'],
    ['postgres', 'podDisruptionBudget.maxUnavailable=0', /podDisruptionBudget.maxUnavailable/],
    ['postgres', 'secret=null', /secret/],
    ['postgres', 'secret.name=""', /secret.name/],
    ['postgres', 'secret.keys=["ENCRYPTION_KEY"]', 'secret.keys must contain DATABASE_URL'],
    ['postgres', 'secret.keys=["DATABASE_URL"]', 'secret.keys must contain ENCRYPTION_KEY'],
    ['postgres', 'secret.keys=["DATABASE_URL","ENCRYPTION_KEY","OAUTH_SOURCES"]', 'OAUTH_SOURCES is in both'],
    ['postgres', 'settings.DATABASE_URL="postgres://assay:secret@db/assay"', /settings.*DATABASE_URL/],
    ['postgres', 'settings.LOGLEVEL="info"', /settings.*LOGLEVEL/],
    ['postgres', 'worker.settings.ROLE="all"', /worker.settings.*ROLE/],
    ['postgres', 'networkPolicy.database.to=[]', /networkPolicy.database.to/],
    ['postgres', 'networkPolicy.dns=null', /networkPolicy.*dns/],
    ['postgres', 'pgbouncer.enabled=true', 'pgbouncer.enabled needs a database server'],
    ['pooler', 'secret.keys=["DATABASE_URL","ENCRYPTION_KEY"]', 'pgbouncer.enabled needs DIRECT_DATABASE_URL'],
    ['pooler', 'pgbouncer.servers=[{"name":"primary","host":"db.internal","port":6543}]', 'networkPolicy.database.ports must contain 6543'],
    ['embedded', 'database.distribute=true', 'need database.mode external'],
    ['embedded', 'secret.keys=["DATABASE_URL"]', 'database.mode embedded uses no DATABASE_URL'],
  ] as const)('rejects values for %s with %s', (deployment, value, message) => {
    expect(() => render(deployment, value)).toThrow(message)
  })

  test('a pair of servers behind PgBouncer has one Service for each', () => {
    const server = (name: string) => ({ name, host: `db-${name}.internal`, port: 5432 })
    const pair = (names: string[]) => `pgbouncer.servers=${JSON.stringify(names.map(server))}`
    const manifests = render('pooler', pair(['a', 'b']))
    for (const name of ['a', 'b'])
      expect(named(ofKind(manifests, 'ConfigMap'), `assay-pgbouncer-${name}`).data?.['pgbouncer.ini']).toContain(
        `host=db-${name}.internal `,
      )
    expect(ofKind(manifests, 'Service').map(({ metadata }) => metadata.name)).toEqual(
      expect.arrayContaining(['assay-pgbouncer-a', 'assay-pgbouncer-b']),
    )
    expect(() => render('pooler', pair(['a', 'a']))).toThrow('Each name in pgbouncer.servers must be unique')
  })

  test('opens the ports of networkPolicy.database.ports, such as that of an existing pooler', () => {
    const manifests = render('postgres', 'networkPolicy.database.ports=[5432,6543]')
    const policies = ofKind(manifests, 'NetworkPolicy')
    expect(policies).not.toEqual([])
    for (const { metadata, spec } of policies) {
      const ports = (spec?.egress ?? []).flatMap(({ ports = [] }) => ports.map(({ port }) => port))
      expect(ports, metadata.name).toContain(6543)
    }
  })

  test('every workload verifies the database with the authority of caConfigMap', () => {
    const manifests = render('pooler', 'database.caConfigMap="db-ca"')
    expect(manifests.flatMap(schemaProblems)).toEqual([])
    for (const { name, pod } of workloadsOf(manifests)) {
      expect(pod.volumes, name).toContainEqual({ name: 'ca', configMap: { name: 'db-ca' } })
      expect(pod.containers[0]?.volumeMounts, name).toContainEqual({ name: 'ca', mountPath: '/etc/assay-ca', readOnly: true })
    }
  })

  test('every container of Assay gets the settings and files of a key management service and of single sign-on', () => {
    const settings = {
      ...{ VAULT_TRANSIT_URL: 'https://vault.internal:8200/v1/transit', VAULT_TRANSIT_KEY: 'assay' },
      ...{ VAULT_TRANSIT_TOKEN_FILE: '/vault/token', OIDC_ISSUER: 'https://login.example.org', OIDC_CLIENT_ID: 'assay' },
    }
    const manifests = render(
      'postgres',
      ...Object.entries(settings).map(([name, value]) => `settings.${name}=${JSON.stringify(value)}`),
      'secret.keys=["DATABASE_URL"]',
      'extraVolumes=[{"name":"vault","secret":{"secretName":"vault-token"}}]',
      'extraVolumeMounts=[{"name":"vault","mountPath":"/vault","readOnly":true}]',
    )
    expect(manifests.flatMap(schemaProblems)).toEqual([])
    const workloads = workloadsOf(manifests)
    expect(workloads.map(({ name }) => name)).toEqual(expect.arrayContaining(['assay-api', 'assay-worker', 'assay-migrate']))
    for (const { name, pod } of workloads) {
      const { env = [], volumeMounts } = pod.containers[0] ?? {}
      expect(env, name).toEqual(expect.arrayContaining(Object.entries(settings).map(([name, value]) => ({ name, value }))))
      expect(env.map(({ name }) => name)).not.toContain('ENCRYPTION_KEY')
      expect(pod.volumes, name).toContainEqual({ name: 'vault', secret: { secretName: 'vault-token' } })
      expect(volumeMounts, name).toContainEqual({ name: 'vault', mountPath: '/vault', readOnly: true })
    }
  })

  test('serviceMonitor.token sends METRICS_TOKEN of the Secret, and without it nothing', () => {
    const authorizations = (token: boolean) => {
      const manifests = render('postgres', 'serviceMonitor.enabled=true', `serviceMonitor.token=${token}`, 'secret.name="clinic"')
      expect(manifests.flatMap(schemaProblems)).toEqual([])
      return ofKind(manifests, 'ServiceMonitor').flatMap(({ spec }) => spec.endpoints.map(({ authorization }) => authorization))
    }
    expect(authorizations(true)).toEqual([{ credentials: { name: 'clinic', key: 'METRICS_TOKEN' } }])
    expect(authorizations(false)).toEqual([undefined])
  })

  test.each(deployments)('accepts the values of the documentation for %s', (deployment) => {
    const example = blocksOf('docs/deploying.md').find(({ text }) => text.startsWith('image:'))
    const values = Object.entries<object>(parse(example?.text ?? ''))
    expect(values).not.toEqual([])
    const manifests = render(deployment, ...values.map(([name, value]) => `${name}=${JSON.stringify(value)}`))
    expect(manifests.flatMap(schemaProblems)).toEqual([])
  })
})
