import { BlockList } from 'node:net'
import { describe, expect, test } from 'vitest'
import { deployments } from '../../scripts/manifests.ts'
import { isForbidden } from '../../src/platform/outbound/address.ts'
import { matches, ofKind, readManifests, workloadsOf } from './support/manifests.ts'

/** Private addresses, and the metadata addresses of Amazon, Google, Azure, Alibaba and Oracle. */
const forbiddenAddresses = [
  ...['10.1.2.3', '172.20.0.1', '192.168.1.1', '169.254.169.254', '169.254.170.2', '168.63.129.16', '100.100.100.200', '192.0.0.192'],
  ...['fd00:ec2::254', 'fd20:ce::254', 'fe80::a9fe:a9fe', 'fc00::1', '::1'],
]

test('Assay rejects the addresses that the network policies exclude', () => {
  expect(forbiddenAddresses.filter((address) => !isForbidden(address))).toEqual([])
})

describe.each(deployments)('%s', (deployment) => {
  const manifests = readManifests(deployment)
  const policies = ofKind(manifests, 'NetworkPolicy')

  test('every pod has one policy for both directions', () => {
    for (const { name, labels } of workloadsOf(manifests)) {
      const types = policies.filter(({ spec }) => matches(spec?.podSelector?.matchLabels, labels)).map(({ spec }) => spec?.policyTypes)
      expect(types, name).toEqual([['Ingress', 'Egress']])
    }
  })

  test('every outbound rule names its peers', () => {
    const rules = policies.flatMap(({ spec }) => spec?.egress ?? [])
    expect(rules.filter(({ to = [] }) => to.length === 0)).toEqual([])
  })

  test('the rule for the internet excludes private and metadata addresses', () => {
    const internet = policies.flatMap(({ spec }) => (spec?.egress ?? []).filter(({ ports = [] }) => ports.some(({ port }) => port === 443)))
    expect(internet).not.toEqual([])
    const blocks = internet.flatMap(({ to = [] }) => to.flatMap(({ ipBlock }) => ipBlock ?? []))
    expect(blocks.some((block) => allows(block, '1.1.1.1'))).toBe(true)
    expect(blocks.some((block) => allows(block, '2606:4700::1111'))).toBe(true)
    expect(forbiddenAddresses.filter((address) => blocks.some((block) => allows(block, address)))).toEqual([])
  })

  test('requests reach the API and never a worker', () => {
    for (const { metadata, spec } of policies) {
      const ports = (spec?.ingress ?? []).flatMap(({ ports = [] }) => ports.map(({ port }) => port))
      const namespaces = (spec?.ingress ?? []).flatMap(({ from = [] }) =>
        from.map(({ namespaceSelector }) => namespaceSelector?.matchLabels?.['kubernetes.io/metadata.name']),
      )
      if (/-(api|embedded)$/.test(metadata.name)) expect(ports).toEqual([8080])
      else expect(namespaces).not.toContain('ingress')
    }
  })
})

const allows = ({ cidr, except = [] }: { cidr: string; except?: string[] }, address: string) =>
  contains(cidr, address) && !except.some((excluded) => contains(excluded, address))

function contains(cidr: string, address: string) {
  const [network = '', bits] = cidr.split('/')
  const list = new BlockList()
  list.addSubnet(network, Number(bits), familyOf(network))
  return list.check(address, familyOf(address))
}

const familyOf = (address: string) => (address.includes(':') ? 'ipv6' : 'ipv4')
