import { existsSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../support/process.ts'
import { pages, pageText } from './support/blocks.ts'

/** What `npm run generate` makes. */
const made = ['docs/lifecycle.md']

const others = ['ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md']

/** As GitHub names a heading. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-')

const anchorsOf = (page: string) => [...pageText(page).matchAll(/^#+ (.*)$/gm)].map(([, heading]) => anchorOf(heading as string))

test.each([...pages, ...others])('the links of %s lead somewhere', (page) => {
  const text = pageText(page).replace(/^```[\s\S]*?^```$/gm, '')
  const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, to]) => to as string).filter((to) => !/^(https?:|\/)/.test(to))
  const dead = links.filter((link) => {
    const [path = '', anchor] = link.split('#')
    const target = path ? normalize(join(dirname(page), path)) : page
    if (made.includes(target)) return false
    if (!existsSync(join(root, target))) return true
    return anchor !== undefined && !anchorsOf(target).includes(anchor)
  })
  expect(dead).toEqual([])
})
