import { readFileSync } from 'node:fs'
import { join, matchesGlob } from 'node:path'
import { expect, test } from 'vitest'
import { deployments } from '../../scripts/manifests.ts'
import { root } from '../support/process.ts'
import { processesOf, readManifests, workloadsOf } from './support/manifests.ts'

const source = (path: string) => readFileSync(join(root, path), 'utf8')
const dockerfile = source('Dockerfile').replaceAll('\\\n', '')
const everyManifest = deployments.flatMap((deployment) => readManifests(deployment))

test('the image keeps every package that Assay needs', () => {
  const removed = /rm -rf ([^&\n]+)/.exec(dockerfile)?.[1]?.trim().split(/\s+/) ?? []
  const packages: Record<string, { dev?: boolean; optional?: boolean }> = JSON.parse(source('package-lock.json')).packages
  const needed = Object.entries(packages).flatMap(([path, { dev, optional }]) => (dev || optional ? [] : [path]))
  expect(removed).not.toEqual([])
  expect(needed.filter((path) => removed.some((pattern) => matchesGlob(path, pattern)))).toEqual([])
})

test('the image has the commands, the port and the folder that the manifests use', () => {
  const copied = [...dockerfile.matchAll(/^COPY (\S+) \1$/gm)].map(([, folder]) => folder)
  const commands = workloadsOf(everyManifest).flatMap(({ pod }) =>
    pod.containers.flatMap(({ command = [] }) => (command[0] === 'node' ? [command[1]] : [])),
  )
  expect(new Set(commands)).toEqual(new Set(['bin/assay.mjs']))
  expect(copied).toEqual(expect.arrayContaining(['bin', 'src']))
  expect(dockerfile).toMatch(/^CMD \["node", .*"src\/main\.ts"\]$/m)
  expect(dockerfile).toMatch(/^ENV HOST=0\.0\.0\.0 PORT=8080 /m)
  for (const { name, container } of processesOf(everyManifest)) {
    expect(container.ports, name).toEqual([{ name: 'http', containerPort: 8080 }])
    expect(container, name).not.toHaveProperty('command')
  }
})

test('pods run as the user of the image', () => {
  const NODE_UID = 1000
  expect(dockerfile).toMatch(/^FROM node:/m)
  expect(dockerfile).toMatch(/^USER node$/m)
  for (const { name, pod } of workloadsOf(everyManifest).filter(({ name }) => !name.includes('pgbouncer')))
    expect(pod.securityContext, name).toMatchObject({ runAsUser: NODE_UID, runAsGroup: NODE_UID })
})
