/** The value of a series at this moment. */
export async function readMetrics(base: string) {
  const lines = (await (await fetch(`${base}/metrics`)).text()).split('\n')
  return (series: string) => Number(lines.find((line) => line.startsWith(`${series} `))?.slice(series.length))
}
