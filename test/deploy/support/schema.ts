import { ServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1'
import { Deployment, StatefulSet } from 'kubernetes-models/apps/v1'
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2'
import { Job } from 'kubernetes-models/batch/v1'
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1'
import { ConfigMap, Service, ServiceAccount } from 'kubernetes-models/v1'

const models = [
  ConfigMap,
  Deployment,
  HorizontalPodAutoscaler,
  Job,
  NetworkPolicy,
  PodDisruptionBudget,
  Service,
  ServiceAccount,
  ServiceMonitor,
  StatefulSet,
]

/** What is wrong with a document by the schema of its kind. Empty if it is valid. */
export function schemaProblems(document: { apiVersion?: unknown; kind?: unknown }): string[] {
  const model = models.find(({ apiVersion, kind }) => apiVersion === document.apiVersion && kind === document.kind)
  if (!model) return [`unknown kind ${document.apiVersion} ${document.kind}`]
  const { tracked, unread } = trackReads(document)
  try {
    model.prototype.validate.call(tracked)
  } catch (error) {
    return [(error as Error).message]
  }
  return unread().map((path) => `unknown field ${path}`)
}

/**
 * Records which fields are read. The models accept unknown fields, but they read every field that the schema has, so a
 * field that they do not read is unknown.
 */
function trackReads<T extends object>(document: T) {
  const read = new Set<string>()
  const track = <V extends object>(value: V, path: string): V =>
    new Proxy(value, {
      get(target, name) {
        const child: unknown = Reflect.get(target, name)
        const childPath = `${path}/${String(name)}`
        read.add(childPath)
        return typeof child === 'object' && child !== null ? track(child, childPath) : child
      },
    })
  return { tracked: track(document, ''), unread: () => pathsOf(document).filter((path) => !read.has(path)) }
}

const pathsOf = (value: object, path = ''): string[] =>
  Object.entries(value).flatMap(([name, child]) => {
    const childPath = `${path}/${name}`
    return typeof child === 'object' && child !== null ? [childPath, ...pathsOf(child, childPath)] : [childPath]
  })
