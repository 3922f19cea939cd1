import type { CorpusCase } from './corpus-case.ts';

/** Templates for a runtime on Kubernetes, as operators of earlier versions have them. */
const FILES = {
  'statefulset.yaml': `apiVersion: apps/v1
kind: StatefulSet
spec:
  persistentVolumeClaimRetentionPolicy:
    whenDeleted: Delete
    whenScaled: Retain
  volumeClaimTemplates:
  - metadata:
      name: data
    spec:
      accessModes:
        - ReadWriteOnce
      resources:
        requests:
          storage: {{ .StorageBytes }}
  replicas: 1
  selector:
    matchLabels:
      app.kubernetes.io/name: {{ .Names.StatefulSet }}
  serviceName: cloud-runtime
  template:
    metadata:
      labels:
        app.kubernetes.io/name: {{ .Names.StatefulSet }}
    spec:
      securityContext:
        fsGroup: 1000
      containers:
      - args:
        - runtime
        - start
        command:
        - rill
        env:
        - name: RILL_RUNTIME_GRPC_PORT
          value: "9090"
        - name: RILL_RUNTIME_HTTP_PORT
          value: "8080"

        ########################################################################
        # Add all the relevant runtime configuration environment variables here
        ########################################################################

        image: "{{ .Image }}:{{ .ImageTag }}"
        imagePullPolicy: Always
        livenessProbe:
          failureThreshold: 3
          httpGet:
            path: /v1/ping
            port: 8080
            scheme: HTTP
          periodSeconds: 10
          successThreshold: 1
          timeoutSeconds: 1
        name: cloud-runtime
        ports:
        - containerPort: 8080
          protocol: TCP
        - containerPort: 9090
          protocol: TCP
        resources:
          limits:
            cpu: {{ .CPU }}
            memory: {{ .MemoryGB }}Gi
          requests:
            cpu: {{ .CPU }}
            memory: {{ .MemoryGB }}Gi
        securityContext:
          allowPrivilegeEscalation: false
          capabilities:
            add:
            - NET_BIND_SERVICE
            drop:
            - all
          runAsNonRoot: true
          runAsUser: 1000
        terminationMessagePolicy: FallbackToLogsOnError
        volumeMounts:
        - mountPath: {{ .DataDir }}
          name: data
`,
  'service.yaml': `apiVersion: v1
kind: Service
spec:
  type: ClusterIP
  ports:
  - name: http
    port: 8080
    targetPort: 8080
  - name: grpc
    port: 9090
    targetPort: 9090
  selector:
    app.kubernetes.io/name: {{ .Names.StatefulSet }}
`,
  'grpc_ingress.yaml': `apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  annotations:
    nginx.ingress.kubernetes.io/backend-protocol: GRPC
spec:
  ingressClassName: nginx
  rules:
  - host: {{ .Host }}
    http:
      paths:
      - backend:
          service:
            name: {{ .Names.Service }}
            port:
              number: 9090
        path: /
        pathType: Prefix
`,
  'http_ingress.yaml': `apiVersion: networking.k8s.io/v1
kind: Ingress
spec:
  ingressClassName: nginx
  rules:
  - host: {{ .Host }}
    http:
      paths:
      - backend:
          service:
            name: {{ .Names.Service }}
            port:
              number: 8080
        path: /v1
        pathType: Prefix
`,
};

const data = {
  Image: 'rilldata/rill',
  ImageTag: '0.62.0',
  Host: 'node-4f2a.localhost',
  CPU: 2,
  MemoryGB: 8,
  StorageBytes: 85_899_345_920,
  Slots: 2,
  DataDir: '/mnt/data',
  Annotations: { organization_name: 'acme' },
  Names: {
    HTTPIngress: 'http-runtime-4f2a',
    GRPCIngress: 'grpc-runtime-4f2a',
    Service: 'runtime-4f2a',
    StatefulSet: 'runtime-4f2a',
  },
};

const files = Object.entries(FILES).map(([name, text]) => ({ name, text }));

export const runtimeCases: readonly CorpusCase[] = [
  ...files.map((file) => ({ name: `runtime ${file.name}`, files: [file], data, missingKey: 'error' as const })),
  ...files.map((file) => ({
    name: `runtime ${file.name} without names`,
    files: [file],
    data: { CPU: 1 },
    missingKey: 'error' as const,
  })),
];
