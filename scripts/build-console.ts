import { createHash } from 'node:crypto'
import { globSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))
const dist = join(root, 'console/dist')
const HASH_FILE = 'sources.sha256'

/** Builds the console unless the existing build comes from the same sources. */
export async function buildConsole() {
  const hash = hashOfSources()
  if (hash === hashOfBuild()) return false
  const newBuild = `${dist}-${process.pid}`
  await bundle(newBuild)
  writeFileSync(join(newBuild, HASH_FILE), hash)
  replaceBuild(newBuild)
  return true
}

function hashOfSources() {
  const files = globSync(
    ['console/index.html', 'console/tsconfig.json', 'console/src/**/*.*', 'src/contract/**/*.ts', 'scripts/build-console.ts'],
    {
      cwd: root,
    },
  )
  const hash = createHash('sha256').update(readFileSync(join(root, 'package-lock.json')))
  for (const file of files.sort()) hash.update(`\0${file}\0`).update(readFileSync(join(root, file)))
  return hash.digest('hex')
}

function hashOfBuild() {
  try {
    return readFileSync(join(dist, HASH_FILE), 'utf8')
  } catch {
    return undefined
  }
}

async function bundle(outDir: string) {
  const { build } = await import('vite')
  await build({
    configFile: false,
    root: join(root, 'console'),
    base: '/console/',
    logLevel: 'warn',
    // Explicit for reproducible builds: in a test environment, each element would carry its source path.
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact', development: false } },
    plugins: [await contractModules()],
    build: {
      outDir,
      emptyOutDir: true,
      target: 'es2022',
      cssTarget: 'esnext',
      // The content security policy allows no data: URLs in style sheets and no script for old browsers.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
    },
  })
}

/** At run time the console needs endpoint methods, paths and some names of the contract. Shapes are types only. */
async function contractModules() {
  const { rows } = await import('../src/contract/index.ts')
  const { series } = await import('../src/contract/wearables/series.ts')
  const valueKinds = Object.fromEntries(Object.entries(series).map(([name, { valueKind }]) => [name, valueKind]))
  const table = Object.fromEntries(rows.map(([name, { method, path, media }]) => [name, [method, path, ...(media ? [media] : [])]]))
  const modules: Record<string, string> = {
    'virtual:rows': `export const rows = ${JSON.stringify(table)}`,
    'virtual:series': `export const series = ${JSON.stringify(valueKinds)}`,
  }
  return {
    name: 'contract-modules',
    resolveId: (id: string) => (modules[id] ? `\0${id}` : null),
    load: (id: string) => modules[id.slice(1)] ?? null,
  }
}

/** If another process finished the same build first, its build stays. */
function replaceBuild(newBuild: string) {
  const old = `${newBuild}-old`
  try {
    renameSync(dist, old)
  } catch {
    // There was no earlier build.
  }
  try {
    renameSync(newBuild, dist)
  } catch {
    rmSync(newBuild, { recursive: true, force: true })
  }
  rmSync(old, { recursive: true, force: true })
}

if (import.meta.main && (await buildConsole())) console.log('Built the console.')
