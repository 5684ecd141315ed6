import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { deployments } from '../../scripts/manifests.ts'
import { Settings } from '../../src/platform/config.ts'
import { root } from '../support/process.ts'
import { envOf, manifestsText, matches, named, ofKind, processesOf, readManifests, workloadsOf } from './support/manifests.ts'
import { schemaProblems } from './support/schema.ts'
import { isSecretSetting } from './support/secret-settings.ts'

const source = (path: string) => readFileSync(join(root, path), 'utf8')
const knownSettings = Object.keys(Settings.shape)

describe('the schema check', () => {
  const deployment = () => structuredClone(named(ofKind(readManifests('postgres'), 'Deployment'), 'assay-api'))

  test('rejects a misspelled field at any depth', () => {
    const top = Object.assign(deployment(), { specification: {} })
    expect(schemaProblems(top)).toEqual(['unknown field /specification'])
    const nested = deployment()
    Object.assign(nested.spec?.template.spec?.containers[0]?.readinessProbe ?? {}, { periodSecond: 5 })
    expect(schemaProblems(nested)).toEqual(['unknown field /spec/template/spec/containers/0/readinessProbe/periodSecond'])
  })

  test('rejects a value of the wrong type', () => {
    const wrong = deployment()
    Object.assign(wrong.spec?.template.spec ?? {}, { automountServiceAccountToken: 'false' })
    expect(schemaProblems(wrong).join()).toContain('/spec/template/spec/automountServiceAccountToken must be boolean')
  })

  test('rejects a missing field and an unknown kind', () => {
    const incomplete = deployment()
    Reflect.deleteProperty(incomplete.spec ?? {}, 'selector')
    expect(schemaProblems(incomplete).join()).toContain('must have required property selector')
    expect(schemaProblems({ apiVersion: 'apps/v1', kind: 'Deploy' })).toEqual(['unknown kind apps/v1 Deploy'])
  })
})

describe.each(deployments)('%s', (deployment) => {
  const manifests = readManifests(deployment)
  const processes = processesOf(manifests)
  const workloads = workloadsOf(manifests)

  test('every document matches the schema of its kind', () => {
    expect(
      manifests.flatMap((manifest) => schemaProblems(manifest).map((problem) => `${manifest.kind} ${manifest.metadata.name}: ${problem}`)),
    ).toEqual([])
  })

  test('every name is unique among its kind', () => {
    const names = manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`)
    expect(new Set(names).size).toBe(names.length)
  })

  test('every setting exists', () => {
    const names = workloads.flatMap(({ pod }) => pod.containers.flatMap(({ env = [] }) => env.map(({ name }) => name)))
    expect([...new Set(names)].filter((name) => !knownSettings.includes(name))).toEqual([])
  })

  test('secrets are references to a Secret that the chart does not create', () => {
    const variables = workloads.flatMap(({ pod }) => pod.containers.flatMap(({ env = [] }) => env))
    expect(variables.filter(({ name, value }) => isSecretSetting(name) && value !== undefined)).toEqual([])
    expect(variables.filter(({ valueFrom }) => valueFrom && !valueFrom.secretKeyRef)).toEqual([])
    expect(manifests.map(({ kind }) => kind)).not.toContain('Secret')
    expect(manifestsText(deployment)).not.toMatch(/postgres(ql)?:\/\/|\b[sp]k_(us|eu)_|\bmg_/)
  })

  test('images have a version', () => {
    const images = workloads.flatMap(({ pod }) => pod.containers.map(({ image }) => image))
    expect(images.filter((image) => !/:v?\d+\.\d+\.\d+/.test(image ?? ''))).toEqual([])
  })

  test('pods run without root, capabilities, a writable root file system and a token', () => {
    for (const { name, pod } of workloads) {
      expect(pod, name).toMatchObject({
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      })
      for (const container of pod.containers) {
        expect(container.securityContext, name).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        })
        expect(container.resources, name).toMatchObject({
          requests: { cpu: expect.anything(), memory: expect.anything() },
          limits: { memory: expect.anything() },
        })
      }
    }
  })

  test('every process has three probes, and DATA_DIR and /tmp are writable', () => {
    for (const { name, container, pod } of processes) {
      const [http] = container.ports ?? []
      expect(http, name).toEqual({ name: 'http', containerPort: 8080 })
      expect(envOf(container)['DATA_DIR']?.value, name).toBe('/data/assay')
      for (const probe of [container.startupProbe, container.readinessProbe, container.livenessProbe])
        expect(probe?.httpGet, name).toMatchObject({ path: expect.stringMatching(/^\//), port: 'http' })
      expect(
        container.volumeMounts?.map(({ mountPath }) => mountPath),
        name,
      ).toEqual(expect.arrayContaining(['/data', '/tmp']))
      expect(
        pod.topologySpreadConstraints?.map(({ topologyKey }) => topologyKey),
        name,
      ).toEqual(['topology.kubernetes.io/zone', 'kubernetes.io/hostname'])
    }
  })

  test('the grace period covers the shutdown', () => {
    const seconds = (file: string, constant: string) => Number(new RegExp(`${constant} = (\\d+) \\* SECOND`).exec(source(file))?.[1])
    const shutdown = Math.max(
      seconds('src/http/connections/close-on-stop.ts', 'SHUTDOWN_TIMEOUT_MS'),
      seconds('src/delivery/worker/worker.ts', 'STOP_TIMEOUT_MS'),
    )
    // A process stops by itself within these and five for the database connections.
    const killAfter = seconds('src/processes/child.ts', 'KILL_AFTER_MS')
    expect(killAfter).toBeGreaterThanOrEqual(shutdown + 5)
    // docs/operating.md asks for 25 seconds.
    for (const { name, container, pod } of processes) {
      const wait = container.lifecycle?.preStop?.sleep?.seconds ?? 0
      expect(pod.terminationGracePeriodSeconds, name).toBeGreaterThanOrEqual(wait + killAfter + 5)
    }
  })

  test('every Service and budget selects pods, by a port that they have', () => {
    for (const { metadata, spec } of ofKind(manifests, 'Service')) {
      const selected = workloads.filter(({ labels }) => matches(spec?.selector, labels))
      expect(selected, metadata.name).not.toEqual([])
      for (const { pod } of selected)
        expect(
          pod.containers[0]?.ports?.map(({ name }) => name),
          metadata.name,
        ).toEqual(spec?.ports?.map(({ targetPort }) => targetPort))
    }
    for (const { metadata, spec } of ofKind(manifests, 'PodDisruptionBudget'))
      expect(workloads.filter(({ labels }) => matches(spec?.selector?.matchLabels, labels)).map(({ name }) => name)).toEqual([
        metadata.name,
      ])
  })
})

test('the chart has the version of the package', () => {
  expect(parse(source('deploy/helm/assay/Chart.yaml')).appVersion).toBe(JSON.parse(source('package.json')).version)
  const images = (['embedded', 'postgres'] as const).flatMap((deployment) =>
    processesOf(readManifests(deployment)).map(({ container }) => container.image),
  )
  expect(new Set(images)).toEqual(new Set([`registry.example.org/assay:${JSON.parse(source('package.json')).version}`]))
})

test('the values take every setting, secret ones by the Secret only', () => {
  const SET_BY_THE_CHART = ['PORT', 'HOST', 'DATA_DIR', 'ROLE']
  const { definitions } = JSON.parse(source('deploy/helm/assay/values.schema.json'))
  expect(definitions.secretKeys.items.enum.sort()).toEqual(knownSettings.filter(isSecretSetting).sort())
  expect([...Object.keys(definitions.settings.properties), ...definitions.secretKeys.items.enum, ...SET_BY_THE_CHART].sort()).toEqual(
    knownSettings.toSorted(),
  )
})

test('the values file of every deployment is documented, and every documented file exists', () => {
  const page = source('docs/deploying.md')
  expect(deployments.filter((deployment) => !page.includes(`values-${deployment}.yaml`))).toEqual([])
  const paths = [...page.matchAll(/\bdeploy\/[\w./-]*\w/g)].map(([path]) => path)
  expect([...new Set(paths)].filter((path) => !existsSync(join(root, path)))).toEqual([])
})
