import { once } from "node:events";
import { type AddressInfo, type Server, type Socket, connect, createServer } from "node:net";
import type { DatabaseServer } from "./database-server.ts";

/** What a proxy watches for, and what happens then; once. */
export interface ProxyFault {
  /** Words of a statement; every message has the empty ones. */
  readonly statement: string;
  /** How many with these words pass before; none unless given. */
  readonly passing?: number;
  /** Before the server hears of it, or when its answer is there and was not passed on. */
  readonly when: "before" | "after";
  readonly act?: () => void;
  /** Both sides of the connection are cut after this, unless nothing more is to pass while both stay open. */
  readonly how?: "silence";
}

/** What has to be known about a server to stand before it. */
export type ProxyTarget = Pick<DatabaseServer, "port" | "isAnswer">;

/** Stands between a client and a real server and cuts the connection at a chosen statement, or falls silent. */
export class DatabaseProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #target: ProxyTarget;
  #fault: ProxyFault | null = null;
  #refuses = false;
  #isSilent = false;
  #fired = 0;
  #passed = 0;

  private constructor(target: ProxyTarget) {
    this.#target = target;
    this.#server = createServer((client) => this.#serve(client));
  }

  /** Listens on a port of its own. */
  static async start(target: ProxyTarget): Promise<DatabaseProxy> {
    const proxy = new DatabaseProxy(target);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** How many faults happened. */
  get fired(): number {
    return this.#fired;
  }

  /** How many messages with the words of the fault came since it was armed, up to it. */
  get passed(): number {
    return this.#passed;
  }

  /** Arms the next fault. */
  arm(fault: ProxyFault): void {
    this.#fault = fault;
    this.#passed = 0;
  }

  /** Whether new connections are closed at once. */
  refuse(refuses: boolean): void {
    this.#refuses = refuses;
  }

  /** Whether new connections are taken and never answered. */
  silence(isSilent: boolean): void {
    this.#isSilent = isSilent;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }

  #serve(client: Socket): void {
    if (this.#refuses) {
      client.destroy();
      return;
    }
    let isSilent = this.#isSilent;
    const server = connect(this.#target.port, "127.0.0.1");
    const cut = (): void => {
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on("error", cut);
      socket.on("close", () => {
        this.#sockets.delete(socket);
        cut();
      });
    }
    let awaited: ProxyFault | null = null;
    const fire = (fault: ProxyFault): void => {
      this.#fired += 1;
      fault.act?.();
      if (fault.how === "silence") isSilent = true;
      else cut();
    };
    client.on("data", (bytes) => {
      if (isSilent) return;
      const fault = this.#fault;
      const isMeant = fault !== null && bytes.includes(fault.statement);
      if (isMeant && this.#passed++ >= (fault.passing ?? 0)) {
        this.#fault = null;
        if (fault.when === "before") return fire(fault);
        awaited = fault;
      }
      server.write(bytes);
    });
    server.on("data", (bytes) => {
      if (isSilent) return;
      const isAnswer = awaited !== null && this.#target.isAnswer(bytes, awaited.statement);
      if (awaited !== null && isAnswer) fire(awaited);
      else client.write(bytes);
    });
  }
}
