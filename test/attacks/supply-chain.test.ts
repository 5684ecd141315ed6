import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { componentsOf, faultsOf, lockedComponents, mplPackages, sbom } from '../../scripts/sbom.ts'
import { root } from '../support/process.ts'

const source = (path: string) => readFileSync(join(root, path), 'utf8')
const locked = (name: string, change: object = {}) =>
  componentsOf({ [`node_modules/${name}`]: { version: '1.0.0', license: 'MIT', integrity: 'sha512-AAAA', ...change } })

test('no dependency has a license that we do not accept, or an install script', () => {
  expect(faultsOf(lockedComponents())).toEqual([])
})

test.each(['GPL-3.0-only', 'LGPL-2.1-or-later', 'AGPL-3.0', 'SSPL-1.0', 'MIT AND GPL-2.0', 'BUSL-1.1', 'UNLICENSED', undefined])(
  'a package under %s cannot be added',
  (license) => {
    const name = 'left-pad'
    expect(faultsOf(locked(name, { license }))).toEqual([`left-pad 1.0.0 has the license ${license ?? 'none'}`])
  },
)

test.each(['(MIT OR GPL-3.0)', 'MIT AND OFL-1.1', 'Apache-2.0'])('a package under %s can be added', (license) => {
  expect(faultsOf(locked('left-pad', { license }))).toEqual([])
})

test('a package under MPL-2.0 can be added only if the documentation lists it', () => {
  expect(faultsOf(locked('another', { license: 'MPL-2.0' }))).toHaveLength(1)
  expect(faultsOf(locked('lightningcss-linux-x64-gnu', { license: 'MPL-2.0' }))).toEqual([])
  for (const name of mplPackages) expect(source('docs/security.md')).toContain(`\`${name}\``)
})

test('a package with an install script cannot be added', () => {
  expect(faultsOf(locked('left-pad', { hasInstallScript: true }))).toEqual(['left-pad 1.0.0 has an install script'])
})

test('an install of ours runs no scripts of packages', () => {
  for (const path of ['Dockerfile', 'scripts/setup.mjs']) {
    const installs = [...source(path).matchAll(/(?:npm ci|\['ci',)[^\n&]*/g)].map(([install]) => install)
    expect(installs, path).not.toEqual([])
    for (const install of installs) expect(install, path).toContain('--ignore-scripts')
  }
})

test('every dependency has an exact version, and every installed file a hash', () => {
  const { dependencies, devDependencies, optionalDependencies } = JSON.parse(source('package.json'))
  const versions: string[] = Object.values({ ...dependencies, ...devDependencies, ...optionalDependencies })
  expect(versions.filter((version) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([])
  expect(
    lockedComponents()
      .filter(({ integrity }) => !integrity?.startsWith('sha512-'))
      .map(({ name }) => name),
  ).toEqual([])
})

test('images have a minor version, so that a build does not change by itself', () => {
  const files = ['Dockerfile', ...globSync('deploy/{compose,manifests}/*.yaml', { cwd: root }), 'deploy/helm/assay/values.yaml']
  const images = files.flatMap((path) => [...source(path).matchAll(/^(?:FROM| *image:) +(\S+:\S+)$/gm)].map(([, image]) => image))
  expect(images.length).toBeGreaterThan(10)
  expect(images.filter((image) => !/:v?\d+\.\d+/.test(image ?? ''))).toEqual([])
})

test('the bill of materials lists every package with its version, license and hash', () => {
  const { components, metadata, ...bom } = sbom()
  expect(bom).toEqual({ bomFormat: 'CycloneDX', specVersion: '1.6', version: 1 })
  expect(metadata.component).toMatchObject({ type: 'application', name: 'assay', licenses: [{ license: { id: 'Apache-2.0' } }] })
  const { version } = JSON.parse(source('package-lock.json')).packages['node_modules/@scalar/fastify-api-reference']
  expect(components).toContainEqual({
    type: 'library',
    'bom-ref': `pkg:npm/%40scalar/fastify-api-reference@${version}`,
    name: '@scalar/fastify-api-reference',
    version,
    purl: `pkg:npm/%40scalar/fastify-api-reference@${version}`,
    scope: 'required',
    licenses: [{ expression: 'MIT' }],
    hashes: [{ alg: 'SHA-512', content: expect.stringMatching(/^[0-9a-f]{128}$/) }],
  })
  expect(components.find(({ name }) => name === 'vitest')).toMatchObject({ scope: 'excluded' })
  expect(new Set(components.map(({ purl }) => purl)).size).toBe(components.length)
})
