/** Where a link of a page leads on the site; undefined where it leads to a file of the project that the site does not have. */
export function leadsTo(slug: string, href: string) {
  if (/^(https?:|mailto:|\/|#)/i.test(href)) return href
  const [path, anchor] = href.split('#')
  const [, target] = /^\/docs\/(.+)\.md$/.exec(resolved(slug, path ?? '')) ?? []
  return target && `/docs/${target}${anchor ? `#${anchor}` : ''}`
}

/** The name of a diagram that a page shows. */
export const diagramOf = (slug: string, href: string) => /^\/docs\/diagrams\/(\w+)\.svg$/.exec(resolved(slug, href))?.[1]

const resolved = (slug: string, path: string) => new URL(path, `http://site/docs/${slug}.md`).pathname
