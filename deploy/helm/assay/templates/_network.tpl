{{/* Arguments: ports. */}}
{{- define "assay.tcpPorts" -}}
{{- range . }}
- protocol: TCP
  port: {{ . }}
{{- end }}
{{- end -}}

{{- define "assay.egressDns" -}}
- to:
    {{- toYaml .Values.networkPolicy.dns | nindent 4 }}
  ports:
    - protocol: UDP
      port: 53
    - protocol: TCP
      port: 53
{{- end -}}

{{- define "assay.egressDatabase" -}}
- to:
    {{- toYaml .Values.networkPolicy.database.to | nindent 4 }}
  ports:
    {{- include "assay.tcpPorts" .Values.networkPolicy.database.ports | trim | nindent 4 }}
{{- end -}}

{{/* The internet, without private networks and without the metadata addresses of cloud providers. */}}
{{- define "assay.egressOutside" -}}
- to:
    - ipBlock:
        cidr: 0.0.0.0/0
        except:
          - 10.0.0.0/8
          # Alibaba's metadata address is in this range.
          - 100.64.0.0/10
          - 127.0.0.0/8
          # Azure's metadata address
          - 168.63.129.16/32
          # The metadata address of most providers is in this range.
          - 169.254.0.0/16
          - 172.16.0.0/12
          # Oracle's metadata address is in this range.
          - 192.0.0.0/24
          - 192.168.0.0/16
    # Public IPv6 addresses. Local ones, with the metadata addresses of Amazon and Google, are outside of this range.
    - ipBlock:
        cidr: 2000::/3
  ports:
    {{- include "assay.tcpPorts" .Values.networkPolicy.outside.ports | trim | nindent 4 }}
{{- end -}}
