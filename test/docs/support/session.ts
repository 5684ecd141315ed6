import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { assay, type Env, localOnly } from '../../support/process.ts'
import { type Block, pageText } from './blocks.ts'
import { goSettings, tools } from './tools.ts'

/** `folder` is the working folder, `addresses` maps the addresses on the page to real ones, and `from` is the folder of the pages. */
export type Site = { folder: string; addresses: Record<string, string>; env: Env; prelude?: string; from?: string }
/** The output of a block, and its start time in seconds. */
export type BlockOutput = { out: string; err: string; at: number }
export type Session = { code: number | null; outputs: Map<number, BlockOutput>; failedAt: number | undefined; ended: number }

/** Runs the blocks of a page in order in one shell, like a reader. */
export function runBlocks(page: string, site: Site, blocks: Block[]): Promise<Session> {
  const { folder, env } = site
  const bin = installCommands(folder)
  writeFileSync(join(folder, '.prelude.sh'), prelude + (site.prelude ?? npmRunsAssay))
  writeFileSync(join(folder, '.page.sh'), scriptOf(page, site, blocks))
  const PATH = [bin, dirname(process.execPath), process.env['PATH']].join(delimiter)
  const { HOME, NODE_COMPILE_CACHE, NODE_OPTIONS } = process.env
  const variables = { HOME, NODE_COMPILE_CACHE, NODE_OPTIONS, LANG: 'C.UTF-8', ...goSettings, ...localOnly, ...env, PATH }
  const child = spawn('bash', ['.page.sh'], { cwd: folder, env: variables })
  child.stdin.end()
  const all = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (text) => {
    all.out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text) => {
    all.err += text
  })
  return new Promise((resolve, reject) => {
    const end = () => resolve({ code: child.exitCode, outputs: outputsIn(all), failedAt: failedLine(folder), ended: Date.now() / 1000 })
    child.on('error', reject)
    child.on('close', end)
    // A background process of the page may keep the pipes open.
    child.on('exit', () => setTimeout(() => setImmediate(end), 2000).unref())
  })
}

/** The page as a script with the same line numbers, so that a failure gives its line. */
function scriptOf(page: string, { addresses, from }: Site, blocks: Block[]) {
  const lines = pageText(page, from).split('\n')
  const script = lines.map(() => '')
  script[0] = '. ./.prelude.sh'
  for (const { line, end, language, attributes } of blocks) {
    const sample = `sample ${language} ${attributes['file'] ?? `sample-${line}`} <<'END_OF_SAMPLE'`
    script[line - 1] = language === 'sh' ? `block ${line}` : `block ${line}; ${sample}`
    for (let i = line; i < end - 1; i++) script[i] = withLocalAddresses(lines[i] as string, addresses)
    if (language !== 'sh') script[end - 1] = 'END_OF_SAMPLE'
  }
  return `${script.join('\n')}\n`
}

export const withLocalAddresses = (text: string, addresses: Record<string, string>) =>
  Object.entries(addresses).reduce((text, [theirs, ours]) => text.replaceAll(theirs, ours), text)

/** `kill` waits for the processes, because the next one may need the port of the last one. */
const prelude = `set -Eeuo pipefail
trap 'at=$LINENO; [ \${#BASH_LINENO[@]} -gt 1 ] && at=\${BASH_LINENO[-2]}; echo $at >> .failed' ERR
trap 'kill $(jobs -p) 2> /dev/null || true; wait' EXIT
kill() { builtin kill "$@" || return; case $1 in -*) ;; *) wait "$@" 2> /dev/null || true ;; esac; }
block() { printf '\\036%s %s\\n' "$1" "$EPOCHREALTIME"; printf '\\036%s %s\\n' "$1" "$EPOCHREALTIME" >&2; }
sample() {
  case $2 in *.*) cat > "$2"; return ;; esac
  case $1 in
    ts) cat > "$2.ts"; node "$2.ts" ;;
    js) cat > "$2.mjs"; node "$2.mjs" ;;
    py) cat > "$2.py"; python3 "$2.py" ;;
    go) cat > "$2.go"; go run "$2.go" ;;
  esac
}
`

/** `npm run … --` runs the CLI. */
const npmRunsAssay = 'npm() { while [ "$1" != -- ]; do shift; done; shift; assay "$@"; }\n'

/** Puts the CLI and a curl that reports response statuses on the PATH. */
function installCommands(folder: string) {
  const bin = join(folder, '.bin')
  mkdirSync(bin, { recursive: true })
  const script = (name: string, text: string) => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`)
    chmodSync(join(bin, name), 0o755)
  }
  script('assay', `exec "${process.execPath}" "${assay}" "$@"`)
  const curl = `"${tools.get('curl')}" -w '%{stderr}\\n[returned %{http_code} %{url_effective}]\\n' "$@"`
  // On a busy machine a response may begin after the time that a page allows, so such a request is repeated until one begins.
  const repeated = `while ${curl} 2> "$0.$$"; status=$?; grep -q 'returned 000' "$0.$$"; do :; done; cat "$0.$$" >&2; exit $status`
  script('curl', `case " $* " in *' --max-time '*) ${repeated} ;; esac\nexec ${curl}`)
  return bin
}

function outputsIn(all: { out: string; err: string }) {
  const [outs, errs] = [partsOf(all.out), partsOf(all.err)]
  return new Map([...outs].map(([line, { at, text }]) => [line, { at, out: text, err: errs.get(line)?.text ?? '' }]))
}

const partsOf = (text: string) =>
  new Map(
    text
      .split('\x1e')
      .slice(1)
      .map((part) => {
        const [, line, at, text = ''] = /^(\d+) (\S+)\n([\s\S]*)$/.exec(part) ?? []
        return [Number(line), { at: Number(at), text }]
      }),
  )

function failedLine(folder: string) {
  const path = join(folder, '.failed')
  return existsSync(path) ? Number(readFileSync(path, 'utf8').trim().split('\n').at(-1)) : undefined
}
