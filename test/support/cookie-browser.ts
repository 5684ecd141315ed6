/** A browser that follows redirects itself and keeps the cookies of each host. `rewrite` maps the public URL to the real one. */
export function cookieBrowser(rewrite: (url: string) => string, headers: Record<string, string> = {}) {
  const jars = new Map<string, Map<string, string>>()
  const jarOf = (url: string) => {
    const { host } = new URL(url)
    const jar = jars.get(host) ?? new Map<string, string>()
    jars.set(host, jar)
    return jar
  }
  const visit = async (address: string) => {
    const url = rewrite(address)
    const jar = jarOf(url)
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, { redirect: 'manual', headers: { ...headers, ...(cookie && { cookie }) } })
    for (const text of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(text) ?? []
      if (/max-age=0|expires=thu, 01 jan 1970/i.test(text)) jar.delete(name)
      else jar.set(name, value)
    }
    const location = response.headers.get('location')
    return { status: response.status, location: location ? new URL(location, url).href : undefined }
  }
  return {
    visit,
    /** Follows redirects until `isEnd`, and returns the URL it did not visit. */
    follow: async (start: string, isEnd: (url: string) => boolean) => {
      let url = start
      while (!isEnd(url)) {
        const { location, status } = await visit(url)
        if (!location) throw new Error(`${new URL(url).pathname} returned ${status} and no redirect`)
        url = location
      }
      return url
    },
    cookiesOf: (url: string) => [...jarOf(url)].map(([name, value]) => `${name}=${value}`).join('; '),
  }
}
