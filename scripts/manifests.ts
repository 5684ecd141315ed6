import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))
const chart = 'deploy/helm/assay'

/** Each has a values file in the Helm chart and rendered manifests. */
export const deployments = ['embedded', 'postgres', 'pooler', 'failover', 'citus'] as const

export type Deployment = (typeof deployments)[number]

/** Renders the chart with the values of a deployment, for the oldest Kubernetes that the chart accepts. Needs helm. */
export function renderManifests(deployment: Deployment, options: string[] = []) {
  const fixed = ['--namespace', 'assay', '--kube-version', '1.30.0', '--values', `${chart}/values-${deployment}.yaml`]
  return execFileSync('helm', ['template', 'assay', chart, ...fixed, ...options], { cwd: root, encoding: 'utf8', stdio: 'pipe' })
}

export const manifestsPath = (deployment: Deployment) => `${root}deploy/manifests/${deployment}.yaml`

function writeManifests(deployment: Deployment) {
  const header = `# Rendered from ${chart} with values-${deployment}.yaml by npm run manifests.\n`
  writeFileSync(manifestsPath(deployment), `${header}${renderManifests(deployment).trimEnd()}\n`)
}

if (import.meta.main) deployments.forEach(writeManifests)
