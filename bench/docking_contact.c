/* What MuJoCo's own forces leave to the user in the docking study, as MuJoCo's documentation has it done: C callbacks.
   `passive` (mjcb_passive) adds stops, limiter, attitude control and, with `law`, the contact of head and cone, whose
   force `sensed` (mjcb_sensor) writes down;
   `collide` is a collision function: the head's sphere against the cone that another geom stands for, one contact.
   Equations: linkwork/model/contacts.py. */
#include <math.h>
#include <mujoco/mujoco.h>

typedef struct {
    double radius, half_angle, mouth, seat, stiffness, onset, dissipation, friction, slip;
    double lower, upper, stop_stiffness, stop_onset, stop_dissipation;
    double swing, swing_stiffness, swing_onset;
    double kp[3], kd[3];
    double law;
    double head, cone, chaser, rod, target, slide, z, y, ship; /* sites, bodies, addresses of speeds */
    double slide_q, z_q, y_q;
} Numbers;

static Numbers n;
void numbers(const double *from) {
    double *to = (double *)&n;
    for (unsigned k = 0; k < sizeof(Numbers) / sizeof(double); k++) to[k] = from[k];
}
unsigned size(void) { return sizeof(Numbers) / sizeof(double); }

static double push(double depth, double rate, double stiffness, double onset, double dissipation) {
    if (depth <= 0) return 0;
    double m = depth < onset ? depth : onset, f = 1 + dissipation * rate;
    return f <= 0 ? 0 : stiffness * m * (depth - m / 2) / onset * f;
}

/* Depth, and the unit normal towards the sphere's centre in the axes of the world. */
static double touch(const double *centre, const double *origin, const double *R, double *normal) {
    double away[3], p[3], out[3];
    for (int k = 0; k < 3; k++) away[k] = centre[k] - origin[k];
    mju_mulMatTVec3(p, R, away);
    double rho = sqrt(p[0] * p[0] + p[1] * p[1] + 1e-30), z = p[2], s = sin(n.half_angle), c = cos(n.half_angle);
    double a = rho * s + z * c, b = z * s - rho * c + n.seat, distance, n_rho, n_z;
    if (a < 0) {
        double far = sqrt(rho * rho + z * z + 1e-30), inside = far <= n.seat ? -1 : 1;
        distance = fabs(n.seat - far), n_rho = inside * rho / far, n_z = inside * z / far;
    } else {
        double beyond = a - (n.mouth - n.seat * c) / s;
        if (beyond < 0) beyond = 0;
        distance = sqrt(beyond * beyond + b * b + 1e-30);
        n_rho = (beyond * s - b * c) / distance, n_z = (beyond * c + b * s) / distance;
    }
    out[0] = n_rho * p[0] / rho, out[1] = n_rho * p[1] / rho, out[2] = n_z;
    mju_mulMatVec3(normal, R, out);
    return n.radius - distance;
}

static void velocity(const mjModel *m, const mjData *d, int body, const double *point, double *v) {
    const double *spatial = d->cvel + 6 * body, *about = d->subtree_com + 3 * m->body_rootid[body];
    double arm[3] = {point[0] - about[0], point[1] - about[1], point[2] - about[2]};
    mju_cross(v, spatial, arm);
    for (int k = 0; k < 3; k++) v[k] += spatial[3 + k];
}

static void contact(const mjModel *m, mjData *d) {
    int head = (int)n.head, cone = (int)n.cone;
    double normal[3], point[3], own[3], other[3], v[3], rate = 0, along = n.slip * n.slip;
    double *centre = d->site_xpos + 3 * head;
    double depth = touch(centre, d->site_xpos + 3 * cone, d->site_xmat + 9 * cone, normal);
    d->userdata[0] = 0;
    if (depth <= 0) return;
    for (int k = 0; k < 3; k++) point[k] = centre[k] - (n.radius - depth) * normal[k];
    velocity(m, d, (int)n.rod, point, own), velocity(m, d, (int)n.target, point, other);
    for (int k = 0; k < 3; k++) v[k] = own[k] - other[k], rate -= v[k] * normal[k];
    double force = push(depth, rate, n.stiffness, n.onset, n.dissipation);
    for (int k = 0; k < 3; k++) v[k] += rate * normal[k], along += v[k] * v[k];
    double grip = n.friction * force / sqrt(along), none[3] = {0, 0, 0}, f[3], g[3];
    for (int k = 0; k < 3; k++) f[k] = force * normal[k] - grip * v[k], g[k] = -f[k];
    mj_applyFT(m, d, f, none, point, (int)n.rod, d->qfrc_passive);
    mj_applyFT(m, d, g, none, point, (int)n.target, d->qfrc_passive);
    d->userdata[0] = force;
}

void passive(const mjModel *m, mjData *d) {
    double *f = d->qfrc_passive, *q = d->qpos, *v = d->qvel;
    int slide = (int)n.slide, z = (int)n.z, y = (int)n.y, ship = (int)n.ship;
    double at = q[(int)n.slide_q], a = q[(int)n.z_q], b = q[(int)n.y_q], angle = sqrt(a * a + b * b);
    f[slide] += push(n.lower - at, -v[slide], n.stop_stiffness, n.stop_onset, n.stop_dissipation)
              - push(at - n.upper, v[slide], n.stop_stiffness, n.stop_onset, n.stop_dissipation);
    if (angle > n.swing) {
        double rate = (a * v[z] + b * v[y]) / angle;
        double back = push(angle - n.swing, rate, n.swing_stiffness, n.swing_onset, n.stop_dissipation) / angle;
        f[z] -= back * a, f[y] -= back * b;
    }
    const double *R = d->xmat + 9 * (int)n.chaser;
    double turn[3] = {(R[7] - R[5]) / 2, (R[2] - R[6]) / 2, (R[3] - R[1]) / 2};
    for (int k = 0; k < 3; k++) f[ship + 3 + k] -= n.kp[k] * turn[k] + n.kd[k] * v[ship + 3 + k];
    if (n.law != 0) contact(m, d);
}

/* mjcb_sensor: the force of the last evaluation. */
void sensed(const mjModel *m, mjData *d, int stage) {
    if (n.law != 0 && stage == mjSTAGE_ACC) d->sensordata[m->sensor_adr[0]] = d->userdata[0];
}

/* mjCOLLISIONFUNC: geom 1 is the head's sphere, geom 2 stands in the seat with the cone's axes. */
int collide(const mjModel *m, mjData *d, mjPreContact *con, int g1, int g2, mjtNum margin) {
    double normal[3];
    double depth = touch(d->geom_xpos + 3 * g1, d->geom_xpos + 3 * g2, d->geom_xmat + 9 * g2, normal);
    (void)m;
    if (-depth > margin) return 0;
    con->dist = -depth;
    for (int k = 0; k < 3; k++) {
        con->normal[k] = -normal[k], con->tangent[k] = 0;
        con->pos[k] = d->geom_xpos[3 * g1 + k] - (n.radius - depth / 2) * normal[k];
    }
    return 1;
}
