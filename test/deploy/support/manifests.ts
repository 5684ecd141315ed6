import { readFileSync } from 'node:fs'
import type { IDeployment, IStatefulSet } from 'kubernetes-models/apps/v1'
import type { IHorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2'
import type { IJob } from 'kubernetes-models/batch/v1'
import type { INetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1'
import type { IPodDisruptionBudget } from 'kubernetes-models/policy/v1'
import type { IConfigMap, IContainer, IPodTemplateSpec, IService, IServiceAccount } from 'kubernetes-models/v1'
import { parseAllDocuments } from 'yaml'
import { type Deployment, deployments, manifestsPath } from '../../../scripts/manifests.ts'

type ServiceMonitor = {
  apiVersion: string
  kind: 'ServiceMonitor'
  spec: { endpoints: { path: string; port: string; authorization?: object }[] }
}

/** A document of the rendered manifests. The schema check makes the type true. */
type Manifest = { metadata: { name: string; annotations?: Record<string, string> } } & (
  | IConfigMap
  | IDeployment
  | IHorizontalPodAutoscaler
  | IJob
  | INetworkPolicy
  | IPodDisruptionBudget
  | IService
  | IServiceAccount
  | IStatefulSet
  | ServiceMonitor
)

/** Deployments on a database that runs elsewhere. */
export const externalDeployments = deployments.filter((deployment) => deployment !== 'embedded')

export const parseManifests = (text: string) =>
  parseAllDocuments(text).flatMap((document) => (document.contents ? [document.toJS() as Manifest] : []))

export const manifestsText = (deployment: Deployment) => readFileSync(manifestsPath(deployment), 'utf8')

export const readManifests = (deployment: Deployment) => parseManifests(manifestsText(deployment))

export const ofKind = <K extends Manifest['kind']>(manifests: Manifest[], kind: K) =>
  manifests.filter((manifest): manifest is Extract<Manifest, { kind: K }> => manifest.kind === kind)

export const named = <M extends Manifest>(manifests: M[], name: string) => {
  const found = manifests.find(({ metadata }) => metadata.name === name)
  if (!found) throw new Error(`The manifests have no ${name}`)
  return found
}

export type Workload = {
  name: string
  labels: Record<string, string>
  template: IPodTemplateSpec
  pod: NonNullable<IPodTemplateSpec['spec']>
}

/** Everything that creates pods. */
export const workloadsOf = (manifests: Manifest[]): Workload[] =>
  manifests.flatMap((manifest) => {
    const template =
      'spec' in manifest && manifest.spec && 'template' in manifest.spec ? (manifest.spec.template as IPodTemplateSpec) : undefined
    return template?.spec ? [{ name: manifest.metadata.name, labels: template.metadata?.labels ?? {}, template, pod: template.spec }] : []
  })

/** Workloads that run Assay itself, with their only container. */
export const processesOf = (manifests: Manifest[]) =>
  workloadsOf(manifests).flatMap((workload) => {
    const [container] = workload.pod.containers
    return container?.name === 'assay' ? [{ ...workload, container }] : []
  })

export const envOf = ({ env = [] }: IContainer) => Object.fromEntries(env.map((variable) => [variable.name, variable]))

export const matches = (selector: Record<string, string> | undefined, labels: Record<string, string>) =>
  Object.entries(selector ?? {}).every(([name, value]) => labels[name] === value)
