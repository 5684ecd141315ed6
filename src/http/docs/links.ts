/** Returns the URL of a link on the site, or undefined if its target is a project file that the site does not serve. */
export function siteUrl(slug: string, href: string) {
  if (/^(https?:|mailto:|\/|#)/i.test(href)) return href
  const [path, anchor] = href.split('#')
  const [, target] = /^\/docs\/(.+)\.md$/.exec(resolvePath(slug, path ?? '')) ?? []
  return target && `/docs/${target}${anchor ? `#${anchor}` : ''}`
}

export const diagramOf = (slug: string, href: string) => /^\/docs\/diagrams\/(\w+)\.svg$/.exec(resolvePath(slug, href))?.[1]

const resolvePath = (slug: string, path: string) => new URL(path, `http://site/docs/${slug}.md`).pathname
